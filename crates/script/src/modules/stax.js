// `stax`: the functions that agents, packages and their parts are written with.
//
// Like the reference, each states the version of the specification where the author did not, as the last member. Beyond
// that they judge nothing: a wrong value is reported by whoever reads the definition, with its place in the source.

const stated = (definition) => {
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) return definition;
  if (definition.specVersion !== undefined) return definition;
  const { specVersion, ...rest } = definition;
  return { ...rest, specVersion: '1.0.0' };
};

export const defineAgent = stated;
export const definePackage = stated;
export const definePersona = stated;
export const defineMcp = stated;
export const defineSubagents = stated;
export const defineProfile = stated;
export const defineSource = stated;
