// Whether a manifest is one: held against the schema that the command uses, and its parts against one another.

function fits(value, schema) {
  if (schema === true) return true;
  if (schema.$ref) return fits(value, FACTS.schema.$defs[schema.$ref.split("/").pop()]);
  if (schema.anyOf) return schema.anyOf.some((each) => fits(value, each));
  if (schema.enum) return schema.enum.includes(value);
  if ("const" in schema) return value === schema.const;
  switch (schema.type) {
    case "null": return value === null;
    case "boolean": return typeof value === "boolean";
    case "string": return typeof value === "string" && (!schema.pattern || new RegExp(schema.pattern).test(value));
    case "integer": case "number":
      return typeof value === "number" && (schema.type === "number" || Number.isInteger(value))
        && !(value < schema.minimum) && !(value > schema.maximum)
        && !(value <= schema.exclusiveMinimum) && !(value >= schema.exclusiveMaximum);
    case "array":
      return Array.isArray(value) && !(value.length < schema.minItems)
        && value.every((each) => !schema.items || fits(each, schema.items));
    case "object":
      return isObject(value) && (schema.required ?? []).every((name) => name in value)
        && Object.entries(value).every(([name, each]) => schema.properties?.[name]
          ? fits(each, schema.properties[name])
          : schema.additionalProperties !== false && fits(each, schema.additionalProperties ?? {}));
    default: return true;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
const unique = (list) => new Set(list).size === list.length;

function isTree({ leaves, population, levels }) {
  const size = population.length;
  if (!unique(leaves) || leaves.some((leaf) => leaf >= size)) return false;
  let finer = population.map((_, leaf) => leaf);
  for (const level of levels) {
    if (level.length !== size || (size && level[0] !== 0)) return false;
    for (let at = 1; at < size; at += 1) {
      const step = level[at] - level[at - 1];
      if ((step !== 0 && step !== 1) || (finer[at] === finer[at - 1] && step !== 0)) return false;
    }
    finer = level;
  }
  return true;
}

function fitsTogether(stated) {
  const names = stated.columns.map((column) => column.name);
  const parts = stated.tables.map((table) => table.part);
  const models = stated.policy.models;
  if (!unique(names) || !unique(parts) || parts[0] || stated.tables[0].rows !== stated.published) return false;
  if (!models.length && !FACTS.without_models.includes(stated.algorithm.name) && !stated.unverified) return false;
  if (models.length && stated.unverified) return false;
  const having = (role) => stated.columns.filter((column) => column.role === role).map((column) => column.name);
  const sensitive = models.length ? having("sensitive") : [];
  if (Object.keys(stated.sensitive).sort().join("\0") !== [...sensitive].sort().join("\0")) return false;
  const person = having("entity").join("\0");
  if (models.length && person !== (stated.people ? stated.people.column : "")) return false;
  for (const [name, counts] of Object.entries(stated.people?.populations ?? {})) {
    if (counts.length !== stated.sensitive[name]?.population.length) return false;
  }
  const totals = [stated.records, stated.published + (stated.counterfeits ?? 0)];
  return Object.values(stated.sensitive).every((shape) => isTree(shape) && totals.includes(sum(shape.population)));
}

function readManifest(text) {
  const stated = parseJson(text);
  if (!isObject(stated) || !("format" in stated)) throw new Refused("no_manifest");
  if (stated.format !== FACTS.format) throw new Refused("other_version");
  if (!fits(stated, FACTS.schema) || !fitsTogether(stated)) throw new Refused("broken_manifest");
  for (const model of stated.policy.models) {
    const known = FACTS.models[model.name];
    if (known && !fits(model, known.schema)) throw new Refused("broken_manifest");
  }
  return stated;
}
