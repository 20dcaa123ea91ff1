// What a release is held against: its hashes, its counts, the columns it may have, and every model of its manifest.

class PeopleUnknown extends Refused {}

// A release as its files and its manifest tell it.
class Release {
  constructor(stated, tables) {
    this.stated = stated;
    this.tables = tables;
    this.roles = new Map(stated.columns.map((column) => [column.name, column]));
    this.shown = new Set([...tables.values()].flatMap((table) => table.names));
    const having = (role) => stated.columns.filter((column) => column.role === role).map((column) => column.name);
    this.quasi = having("quasi");
    this.sensitive = having("sensitive");
    this.person = having("entity")[0] ?? null;
    this.household = having("household")[0] ?? null;
    this.strict = stated.strict ?? false;
    for (const { name, role } of stated.columns) {
      if (["quasi", "sensitive", "plain"].includes(role) && !this.shown.has(name)) throw new Refused("lacks_column", { column: name });
    }
  }

  column(table, name) {
    const stated = this.roles.get(name), read = ["quasi", "sensitive"].includes(stated?.role);
    return columnOf(table, name, read && stated.kind === "numeric");
  }

  // The leaf of each label of a sensitive attribute, and the tree of the whole table's values, as the manifest has them.
  shape(name) {
    const { leaves, population, levels } = this.stated.sensitive[name];
    const { kind, format } = this.roles.get(name);
    if (kind === "date" && format) throw new NotHere("dates", { column: name });
    const table = [...this.tables.values()].find((each) => each.names.includes(name));
    const known = new Map(this.column(table, name).labels.map((label, place) => [label, leaves[place]]));
    if (known.size !== leaves.length) throw new Refused("other_values", { column: name });
    return { population, leaves: leavesIn(this, name, known), nodes: [population.map((_, leaf) => leaf), ...levels] };
  }
}

// The same attribute may stand in several tables, which need not show the same values.
function leavesIn(release, name, known) {
  const holding = [...release.tables.values()].filter((table) => table.names.includes(name));
  if (holding.length > 1) throw new NotHere("several_tables");
  return release.column(holding[0], name).labels.map((label) => known.get(label));
}

const sizesBy = (release, part, name, count) => {
  const table = release.tables.get(part), { labels, codes } = release.column(table, name);
  const sizes = totals(codes, labels.length, count ? countsOf(release, table, count) : null);
  return new Map(labels.map((label, place) => [label, sizes[place]]));
};
const sameCounts = (one, two) => one.size === two.size && [...one].every(([label, size]) => two.get(label) === size);

// Which columns make the classes of people and of sensitive values, which columns a form adds, and whether its tables
// agree with one another.
const FORMS = {
  generalized: (release) => {
    const spec = { part: "", keys: release.quasi, quasi: true };
    return { people: () => spec, groups: () => spec, added: [], agreement: () => [] };
  },
  multisets: (release) => ({
    ...FORMS.generalized(release),
    agreement: () => [{ name: "cells-agree", holds: multisetsAgree(release) }],
  }),
  "two-table": (release) => twoTables(release, (listed, counted) => sameCounts(listed, counted)),
  counterfeited: (release) => twoTables(release, (listed, counted) => (
    listed.size === counted.size && [...listed].every(([label, size]) => size <= (counted.get(label) ?? -1))
  )),
  sliced: (release) => {
    const parts = [...release.tables].map(([part, table]) => (
      { part, table, quasi: release.quasi.filter((name) => table.names.includes(name)) }
    ));
    const holding = parts.filter(({ table }) => release.sensitive.some((name) => table.names.includes(name)));
    const telling = holding.filter(({ quasi }) => quasi.length);
    return {
      added: ["bucket"],
      apart: true,
      people: () => {
        const whole = parts.find(({ quasi }) => quasi.length === release.quasi.length);
        if (!whole) throw new Refused("no_people");
        return { part: whole.part, keys: release.quasi, quasi: true };
      },
      groups: () => {
        if (holding.length > 1) throw new NotHere("several_tables");
        const { part, quasi } = telling[0] ?? holding[0];
        return { part, keys: ["bucket", ...quasi] };
      },
      agreement: () => {
        if (holding.length > 1) throw new NotHere("several_tables");
        const sizes = parts.map(({ part }) => sizesBy(release, part, "bucket"));
        if (sizes.some((each) => [...each.keys()].some((label) => !sizes[0].has(label)))) throw new Refused("other_buckets");
        return [{ name: "tables-agree", holds: sizes.every((each) => sameCounts(sizes[0], each)) }];
      },
    };
  },
  perturbed: () => {
    const none = () => { throw new Refused("no_people"); };
    return { people: none, groups: none, added: [], agreement: () => [] };
  },
};

function twoTables(release, agree) {
  return {
    added: ["group", "count"],
    apart: true,
    people: () => ({ part: "", keys: release.quasi, quasi: true }),
    groups: () => ({ part: "sensitive", keys: ["group"], count: "count" }),
    agreement: () => [{
      name: "tables-agree",
      holds: agree(sizesBy(release, "", "group"), sizesBy(release, "sensitive", "group", "count")),
    }],
  };
}

// How many records a multiset such as {20:1,23:2} counts; 0 where a text is none.
function multisetSize(text) {
  if (!text?.startsWith("{") || !text.endsWith("}")) return 0;
  const entry = /(?:"((?:[^"]|"")*)"|([^",:]*)):([1-9][0-9]{0,17})(,|\}$)/y;
  let total = 0;
  for (entry.lastIndex = 1; ; ) {
    const match = entry.exec(text);
    if (!match) return 0;
    total += Number(match[3]);
    if (match[4] !== ",") return total;
  }
}

function multisetsAgree(release) {
  const classes = classesOf(release, { part: "", keys: release.quasi });
  const { first, labels } = distinctRows(classes, release);
  const sizes = labels.map((texts) => texts.map(multisetSize));
  return first.every((row, number) => {
    const counted = sizes.map((each, at) => each[classes.keys[at][row]]);
    return counted[0] > 0 && counted.every((each) => each === counted[0]) && classes.sizes[number] % counted[0] === 0;
  });
}

// The classes that are judged, with the people in them; raises where the files do not tell whose records they are.
function judged(release, spec, { households = false } = {}) {
  const { person, household } = release;
  if (person === null && (household === null || !spec.quasi)) return classesOf(release, spec);
  if (!spec.quasi) throw new PeopleUnknown("people_unknown");
  const table = release.tables.get(spec.part), codes = (name) => release.column(table, name).codes;
  if (person !== null && !table.names.includes(person)) throw new PeopleUnknown("people_unknown");
  const lived = household !== null && table.names.includes(household);
  if (households && household !== null && !lived) throw new PeopleUnknown("people_unknown");
  return classesOf(release, spec, {
    people: person === null ? null : codes(person), households: lived ? codes(household) : null,
  });
}

function modelFinding(model, release, form) {
  const known = FACTS.models[model.name];
  if (!measures(model.name)) return { name: known?.level ?? model.name, model, holds: null, not_here: "unknown_model" };
  const about = { name: known.level, model, unit: known.unit, bound: model[known.asks] };
  try {
    if (form.apart && known.identity && known.needs_sensitive) throw new Refused("apart");
    const spec = known.identity ? form.people() : form.groups();
    try {
      const classes = judged(release, spec, { households: known.counts_households });
      if (classes.people && known.needs_sensitive && !known.counts_people) throw new Refused("broken_manifest");
      return { ...about, unit: classes.people && known.unit === "records" ? "people" : known.unit, ...measured(model, classes, release) };
    } catch (error) {
      if (!(error instanceof PeopleUnknown)) throw error;
      if (!known.growth_monotone) return { ...about, value: null, holds: null, note: error.key };
      const unit = ["people", "households"].includes(known.unit) ? "records" : known.unit;
      return { ...about, unit, ...measured(model, classesOf(release, spec), release), note: "in_records" };
    }
  } catch (error) {
    if (error instanceof NotHere) return { ...about, value: null, holds: null, not_here: error.key, values: error.values };
    throw error;
  }
}

function countsAgree(release, form) {
  const { stated } = release;
  const compares = stated.policy.models.some((model) => FACTS.models[model.name]?.by_population);
  const classes = classesOf(release, form.groups());
  return classes.sensitive().every((histogram) => {
    const population = stated.sensitive[histogram.column].population, shown = new Array(population.length).fill(0);
    for (const { entries } of histogram.parts) for (const [value, count] of entries) shown[value] += count;
    const total = compares ? stated.records : sum(shown);
    return sum(population) === total && shown.every((count, value) => count <= population[value]);
  });
}

function peopleFinding(release, form) {
  const stated = release.stated.people, about = { name: "people", unit: "people", bound: stated.published };
  let classes;
  try {
    classes = judged(release, form.people());
  } catch (error) {
    if (error instanceof NotHere || !(error instanceof Refused)) throw error;
    return { ...about, bound: null, value: null, holds: null, note: "people_unknown" };
  }
  const count = new Set(classes.people).size;
  let holds = count === stated.published && !(stated.count != null && count > stated.count);
  for (const { column, values, population } of classes.sensitive()) {
    const { shown, everybody } = peopleOf(release, column, values, classes.people, population.length);
    holds &&= shown.every((each, value) => each <= population[value]) && population.every((each) => each <= everybody);
  }
  return { ...about, value: count, holds };
}

// The columns that the manifest does not describe, or that name people and hold no pseudonyms.
function wrongColumns(release, form) {
  const { stated } = release, allowed = ["keyed", "random"].includes(stated.identifiers), wrong = new Set();
  for (const table of release.tables.values()) {
    for (const name of table.names) {
      const role = release.roles.get(name)?.role;
      const naming = ["identifier", "entity", "household"].includes(role);
      const pseudonyms = () => release.column(table, name).labels.every((label) => label === null || /^[0-9a-f]{32}$/.test(label));
      if ((!role && !form.added.includes(name)) || role === "drop" || (role === "weight" && !stated.weights)
        || (naming && !(allowed && pseudonyms()))) wrong.add(name);
    }
  }
  return [...wrong];
}

function agreementFindings(form) {
  try {
    return form.agreement();
  } catch (error) {
    if (error instanceof NotHere) return [{ name: "tables-agree", holds: null, not_here: error.key }];
    throw error;
  }
}

// Everything that the tables themselves tell, in the order in which people ask.
function measuredFindings(stated, tables) {
  if (!Object.hasOwn(FORMS, stated.form)) throw new NotHere("unknown_form");
  const release = new Release(stated, tables), form = FORMS[stated.form](release);
  const here = (about, check) => {
    try {
      return { ...about, ...check() };
    } catch (error) {
      if (error instanceof NotHere) return { ...about, holds: null, not_here: error.key, values: error.values };
      throw error;
    }
  };
  const rows = tables.get("").count, budget = Math.floor(stated.policy.suppression * stated.records + 1e-9);
  const left_out = stated.records - rows, wrong = wrongColumns(release, form);
  return [
    ...stated.policy.models.map((model) => modelFinding(model, release, form)),
    ...agreementFindings(form),
    { name: "suppressed", unit: "records", value: left_out, bound: budget, holds: left_out >= 0 && left_out <= budget },
    ...(stated.people ? [here({ name: "people" }, () => peopleFinding(release, form))] : []),
    { name: "published", unit: "records", value: rows, bound: stated.published, holds: rows === stated.published },
    ...(Object.keys(stated.sensitive).length ? [here({ name: "counts-agree" }, () => ({ holds: countsAgree(release, form) }))] : []),
    { name: "columns-agree", holds: !wrong.length, columns: wrong },
  ];
}
