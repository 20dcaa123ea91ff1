// The level of a class under each model. What bounds a level, and which way, the command's own models say (FACTS).

const SLACK = FACTS.slack;
const shares = (part) => part.entries.map(([value, count]) => [value, count / part.size]);
const greatest = (numbers) => numbers.reduce((most, each) => (each > most ? each : most), 0);
const capped = (level, part) => (part.members === null ? level : Math.min(level, part.members));
const counts = (part) => part.entries.map(([, count]) => count);

function chosen(model, histogram) {
  const leaves = model.leaves?.length ? new Set(model.leaves) : null;
  if (leaves && Math.max(...leaves) >= histogram.population.length) throw new Refused("broken_manifest");
  return (value) => !leaves || leaves.has(value);
}

function ordered(part, histogram) {
  let table = 0, own = 0, moved = 0, ranks = 0;
  const having = new Map(part.entries);
  for (let value = 0; value < histogram.population.length; value += 1) {
    own += (having.get(value) ?? 0) / part.mass;
    if (!histogram.population[value]) continue;
    table += histogram.distribution[value];
    moved += Math.abs(own - table);
    ranks += 1;
  }
  return ranks > 1 ? moved / (ranks - 1) : 0;
}

function along(part, histogram) {
  let surplus = 0;
  for (const level of histogram.nodes) {
    const own = new Map(), masses = new Map();
    for (const [value, count] of part.entries) own.set(level[value], (own.get(level[value]) ?? 0) + count / part.mass);
    level.forEach((node, value) => masses.set(node, (masses.get(node) ?? 0) + histogram.distribution[value]));
    for (const [node, share] of own) surplus += Math.max(share - masses.get(node), 0);
  }
  return surplus / histogram.nodes.length;
}

function tail(part, rank) {
  const down = counts(part).sort((a, b) => b - a);
  return [down[0], sum(down.slice(rank - 1))];
}

function least(part, histogram) {
  if (part.entries.length < histogram.occurring) return 0;
  return Math.min(...shares(part).map(([, share]) => share));
}

// How many values occur exactly as often in every class, for each value.
function twins(histogram) {
  const patterns = new Map();
  histogram.parts.forEach((part, place) => {
    for (const [value, count] of part.entries) patterns.set(value, `${patterns.get(value) ?? ""} ${place}:${count}`);
  });
  const alike = new Map();
  for (const pattern of patterns.values()) alike.set(pattern, (alike.get(pattern) ?? 0) + 1);
  return (value) => alike.get(patterns.get(value));
}

// Each takes the model's parameters and a histogram, and gives the level of a part. Where they are not the usual ones, it
// also gives the `figure` that is shown of a part, the `bound` that it is shown beside, the `threshold` of the level, and
// the least size of a class (`floor`).
const LEVELS = {
  "distinct-l-diversity": () => ({ level: (part) => capped(part.entries.length, part) }),
  "p-sensitive-k-anonymity": ({ k }) => ({ floor: k, level: (part) => capped(part.entries.length, part) }),
  "entropy-l-diversity": () => ({
    level: (part) => capped(Math.exp(-sum(counts(part).map((n) => (n / part.mass) * Math.log(n / part.mass)))), part),
  }),
  "frequency-l-diversity": () => ({ level: (part) => part.size / Math.max(greatest(counts(part)), 1) }),
  "recursive-l-diversity": ({ c, l }) => ({
    bound: c,
    level: (part) => {
      let level = part.entries.length;
      for (; level > 0; level -= 1) { const [most, rest] = tail(part, level); if (most / rest < c) break; }
      return capped(level, part);
    },
    figure: (part) => { const [most, rest] = tail(part, l); return rest > 0 ? most / rest : Infinity; },
  }),
  "alpha-k-anonymity": (model, histogram) => {
    const meant = chosen(model, histogram);
    return { floor: model.k, level: (part) => greatest(shares(part).map(([value, share]) => (meant(value) ? share : 0))) };
  },
  "beta-likeness": ({ enhanced }, { priors }) => ({
    level: (part) => greatest(shares(part).map(([value, share]) => {
      const prior = priors[value], gain = prior > 0 ? (share - prior) / prior : Infinity;
      const cap = prior > 0 ? -Math.log(prior) : 0;
      return enhanced && gain > cap * (1 + SLACK) + SLACK ? Infinity : gain;
    })),
  }),
  "delta-disclosure": ({ delta, strict = true }, { priors, occurring }) => ({
    threshold: below(delta * (1 - SLACK)),
    level: (part) => strict && part.entries.length < occurring
      ? Infinity
      : greatest(shares(part).map(([value, share]) => Math.abs(Math.log(priors[value] > 0 ? share / priors[value] : Infinity)))),
  }),
  "delta-presence": (model, histogram) => {
    const meant = chosen(model, histogram);
    const figure = (part) => sum(part.entries.map(([value, n]) => (meant(value) ? n : 0))) / Math.max(part.size, 1);
    const bound = (model.delta_min ?? 0) * (1 - SLACK);
    return { figure, level: (part) => (figure(part) >= bound ? figure(part) : Infinity) };
  },
  "disclosure-bounds": ({ epsilon = 0 }, histogram) => {
    const figure = (part) => 1 - greatest(shares(part).map(([, share]) => share));
    return { figure, level: (part) => (least(part, histogram) >= epsilon * (1 - SLACK) ? figure(part) : -Infinity) };
  },
  "k-map": (model, histogram) => {
    const meant = chosen(model, histogram);
    return { level: (part) => (part.entries.some(([value]) => meant(value)) ? part.size : Infinity) };
  },
  "rho-privacy": (model, histogram) => {
    const meant = chosen(model, histogram), { priors, population } = histogram;
    const among = (kept) => population.map((n, value) => n > 0 && meant(value) && kept(priors[value]));
    const rare = among((prior) => prior <= model.rho1 + SLACK), common = among((prior) => prior >= 1 - model.rho1 - SLACK);
    const frequent = common.filter(Boolean).length;
    return {
      level: (part) => {
        if (part.entries.filter(([value]) => common[value]).length < frequent) return 1;
        return greatest(shares(part).map(([value, share]) => Math.max(rare[value] ? share : 0, common[value] ? 1 - share : 0)));
      },
    };
  },
  "inference-l": (model, histogram) => {
    const alike = twins(histogram);
    return { level: (part) => Math.min(...part.entries.map(([value]) => alike(value))) };
  },
  "t-closeness": ({ distance = "equal" }, histogram) => ({
    level: (part) => {
      if (distance === "ordered") return ordered(part, histogram);
      if (distance === "hierarchical") return along(part, histogram);
      return sum(part.entries.map(([value, n]) => Math.max(n / part.mass - histogram.distribution[value], 0)));
    },
  }),
};

// Models of the sizes of classes alone.
const SIZES = {
  "k-anonymity": (model, classes) => classes.headcounts,
  "k-households": (model, classes) => classes.households,
};

function* subsets(size, from, of) {
  if (!size) { yield []; return; }
  for (let first = from; first <= of - size; first += 1) {
    for (const rest of subsets(size - 1, first + 1, of)) yield [first, ...rest];
  }
}

// The fewest people who share the values of some set of so many columns.
function leastShared(classes, size) {
  let fewest = Infinity, sets = 0;
  for (const places of subsets(size, 0, classes.keys.length)) {
    if ((sets += 1) > FACTS.most_sets) throw new NotHere("too_many_sets");
    const { index, count } = numbered(places.map((place) => classes.keys[place]), classes.rows);
    const shared = classes.people ? differing(index, count, classes.people) : totals(index, count, classes.weights);
    fewest = shared.reduce((low, each) => Math.min(low, each), fewest);
  }
  return fewest;
}

function combinations(model, classes) {
  if (model.size > classes.keys.length) throw new Refused("broken_manifest");
  const wanted = [...(model.smaller ?? []).map((bound, place) => [place + 1, bound]), [model.size, model.k]];
  const shared = wanted.map(([size, bound]) => [leastShared(classes, size), bound]);
  return { value: shared[shared.length - 1][0], holds: shared.every(([fewest, bound]) => fewest >= bound) };
}

// The fewest records that match a record, where a hidden cell may stand for any value.
function wildcards(model, classes, release) {
  const { labels, first } = distinctRows(classes, release), hidden = FACTS.hidden;
  if (classes.count * classes.count * labels.length > FACTS.most_steps) throw new NotHere("too_many_classes");
  const rows = first.map((row) => labels.map((names, at) => names[classes.keys[at][row]]));
  let fewest = Infinity;
  for (const one of rows) {
    let matching = 0;
    rows.forEach((other, place) => {
      const same = one.every((cell, at) => cell === other[at] || cell === hidden || other[at] === hidden);
      if (same) matching += classes.sizes[place];
    });
    fewest = Math.min(fewest, matching);
  }
  return { value: fewest, holds: fewest >= model.k };
}

function distinctRows(classes, release) {
  const first = new Array(classes.count).fill(-1);
  classes.index.forEach((number, row) => { if (first[number] < 0) first[number] = row; });
  const table = release.tables.get("");
  return { first, labels: release.quasi.map((name) => release.column(table, name).labels) };
}

const WHOLE_TABLE = { "k-combinations": combinations, "wildcard-k-anonymity": wildcards };

const measures = (name) => [SIZES, LEVELS, WHOLE_TABLE].some((kind) => Object.hasOwn(kind, name));

// The level of a release under a model, the bound, and whether every class keeps it.
function measured(model, classes, release) {
  const known = FACTS.models[model.name], bound = model[known.asks];
  if (Object.hasOwn(WHOLE_TABLE, model.name)) return { bound, ...WHOLE_TABLE[model.name](model, classes, release) };
  const worse = (one, other) => (known.more_is_safer ? Math.min(one, other) : Math.max(one, other));
  const worst = (levels) => (levels.length ? levels.reduce(worse) : 0);
  const keeps = (level, limit) => (known.more_is_safer ? level >= limit : level <= limit);
  if (Object.hasOwn(SIZES, model.name)) {
    const levels = SIZES[model.name](model, classes);
    return { bound, value: worst(levels), holds: levels.every((level) => keeps(level, bound)) };
  }
  const histograms = classes.sensitive().filter((each) => model.column == null || each.column === model.column);
  if (!histograms.length || (model.leaves?.length && histograms.length > 1)) throw new Refused("broken_manifest");
  const outcomes = histograms.map((histogram) => {
    const { level, figure = level, floor = 1, threshold = limitOf(known, bound), bound: shown } = LEVELS[model.name](model, histogram);
    const holds = histogram.parts.every((part) => keeps(level(part), threshold)) && classes.headcounts.every((size) => size >= floor);
    const figures = histogram.parts.map(figure);
    return { shown, figures: histogram.parts.map(figure), holds };
  });
  const figures = outcomes.flatMap((each) => each.figures), { shown } = outcomes[0];
  const holds = outcomes.every((each) => each.holds);
  if (shown === undefined) return { bound, value: worst(figures), holds };
  return { bound: shown, value: greatest(figures), holds }; // a figure with a bound of its own is the safer the smaller it is
}

// The worst level that keeps a bound: rounding may carry a level past it.
function limitOf(known, bound) {
  if (known.whole) return bound;
  const slack = SLACK * Math.max(Math.abs(bound), 1);
  return known.more_is_safer ? bound - slack : bound + slack;
}

// The next smaller number.
function below(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  view.setBigUint64(0, view.getBigUint64(0) - 1n);
  return view.getFloat64(0);
}
