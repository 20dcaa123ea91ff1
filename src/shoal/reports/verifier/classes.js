// Classes: records that agree on some columns, how many people they are, and how often they have each sensitive value.

// The number of each row's combination, and how many combinations there are.
function numbered(columns, rows) {
  let index = new Int32Array(rows), count = rows ? 1 : 0;
  for (const codes of columns) {
    const width = codes.reduce((most, code) => Math.max(most, code), 0) + 1, numbers = new Map(), next = new Int32Array(rows);
    for (let row = 0; row < rows; row += 1) {
      const key = index[row] * width + codes[row];
      let number = numbers.get(key);
      if (number === undefined) numbers.set(key, number = numbers.size);
      next[row] = number;
    }
    index = next;
    count = numbers.size;
  }
  return { index, count };
}

function totals(index, count, weights) {
  const sums = new Array(count).fill(0);
  for (let row = 0; row < index.length; row += 1) sums[index[row]] += weights ? weights[row] : 1;
  return sums;
}

// How many different codes the rows of each class have.
function differing(index, count, codes) {
  const pairs = numbered([index, codes], index.length), seen = new Uint8Array(pairs.count), sums = new Array(count).fill(0);
  for (let row = 0; row < index.length; row += 1) {
    if (!seen[pairs.index[row]]) { seen[pairs.index[row]] = 1; sums[index[row]] += 1; }
  }
  return sums;
}

// The classes of a table by some columns. `people` and `households` have the codes of each row where they are counted.
function classesOf(release, spec, { people = null, households = null } = {}) {
  const table = release.tables.get(spec.part), rows = table.count;
  const keys = spec.keys.map((name) => release.column(table, name).codes);
  const { index, count } = numbered(keys, rows);
  const weights = spec.count ? countsOf(release, table, spec.count) : null;
  const sizes = totals(index, count, weights);
  const classes = { index, keys, count, sizes, rows, weights, people };
  classes.headcounts = people ? differing(index, count, people) : sizes;
  classes.households = households ? differing(index, count, households) : classes.headcounts;
  const named = release.sensitive.filter((name) => table.names.includes(name));
  classes.sensitive = () => named.map((name) => histogramOf(release, table, classes, name, named));
  return classes;
}

function countsOf(release, table, name) {
  const { labels, codes } = release.column(table, name);
  const counts = labels.map((label) => (/^\+?\d+$/.test(label ?? "") ? Number(label) : -1));
  if (Math.min(0, ...counts) < 0) throw new Refused("no_counts", { file: table.file });
  return Int32Array.from(codes, (code) => counts[code]);
}

// How often each class has each value of a sensitive attribute. Where attributes are protected jointly, a class falls
// apart into parts that agree on the other ones. With people, how many of them have each value is counted.
function histogramOf(release, table, classes, name, named) {
  const { leaves, population, nodes } = release.shape(name);
  const values = Int32Array.from(release.column(table, name).codes, (code) => leaves[code]);
  const others = release.strict ? named.filter((other) => other !== name) : [];
  const parted = others.length
    ? numbered([classes.index, ...others.map((other) => release.column(table, other).codes)], classes.rows)
    : classes;
  const { index, count } = parted;
  const tallies = Array.from({ length: count }, () => new Map());
  const add = (row, times) => tallies[index[row]].set(values[row], (tallies[index[row]].get(values[row]) ?? 0) + times);
  let counted = population, everybody = 0;
  if (classes.people) {
    const once = numbered([index, values, classes.people], classes.rows), seen = new Uint8Array(once.count);
    for (let row = 0; row < classes.rows; row += 1) {
      if (!seen[once.index[row]]) { seen[once.index[row]] = 1; add(row, 1); }
    }
    ({ counted, everybody } = peopleOf(release, name, values, classes.people, population.length));
  } else {
    for (let row = 0; row < classes.rows; row += 1) add(row, classes.weights ? classes.weights[row] : 1);
  }
  const members = classes.people ? differing(index, count, classes.people) : null;
  const parts = tallies.map((tally, place) => {
    const entries = [...tally].filter(([, times]) => times > 0).sort(([a], [b]) => a - b);
    const mass = sum(entries.map(([, times]) => times));
    return { entries, mass, members: members?.[place] ?? null, size: members?.[place] ?? mass };
  });
  const whole = sum(counted);
  return {
    column: name, parts, population: counted, nodes, values,
    priors: counted.map((each) => each / Math.max(everybody || whole, 1)),
    distribution: counted.map((each) => each / Math.max(whole, 1)),
    occurring: counted.filter((each) => each > 0).length,
  };
}

// The people who have each value, and all of them: in the whole table where the manifest says so, else in the release.
function peopleOf(release, name, values, people, size) {
  const stated = release.stated.people?.count == null ? null : release.stated.people;
  const shown = new Array(size).fill(0), pairs = numbered([values, people], people.length), seen = new Uint8Array(pairs.count);
  for (let row = 0; row < people.length; row += 1) {
    if (!seen[pairs.index[row]]) { seen[pairs.index[row]] = 1; shown[values[row]] += 1; }
  }
  return {
    shown, counted: stated?.populations?.[name] ?? shown, everybody: stated?.count ?? new Set(people).size,
  };
}
