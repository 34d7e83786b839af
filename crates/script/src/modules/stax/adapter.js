// What every adapter package of stax is made of: a table of facts about a runtime, turned into a function from an
// author's options to an adapter configuration.

const versions = { adapterVersion: '1.0.0', importMode: 'filesystem' };

/** A target of kind `file`; a path that ends in a slash is a directory. */
export function target(scope, path, description) {
  return { kind: path.endsWith('/') ? 'directory' : 'file', path, scope, description };
}

/**
 * The factory of one adapter.
 *
 * - `type`: the adapter's name, which is also its runtime's.
 * - `features`, `targets`: as the configuration states them; `userTargets` replace `targets` under `scope: 'user'`.
 * - `scoped`: whether the configuration always states a scope.
 * - `fidelity`, `exactFidelity`: what it claims, and what it claims under `exact: true`.
 * - `ignored`: options that authors may write and that change nothing in the configuration.
 */
export function adapter({ type, features, targets, userTargets, scoped = false, ignored = [], ...facts }) {
  const { fidelity = 'best-effort', exactFidelity = fidelity } = facts;
  const factory = (options) => {
    const { exact, model, modelParams, runtimeVersionRange, ...rest } = options ?? {};
    // Every option that is not named above belongs to the runtime, also one that this table has never heard of: an
    // option dropped in silence could not be reported by whoever reads the configuration.
    const config = scoped ? { scope: 'project' } : {};
    for (const [key, value] of Object.entries(rest)) {
      if (value !== undefined && !ignored.includes(key)) config[key] = value;
    }
    return {
      type,
      runtime: type,
      adapterVersion: versions.adapterVersion,
      ...(runtimeVersionRange === undefined ? {} : { runtimeVersionRange }),
      ...(model === undefined ? {} : { model }),
      ...(modelParams === undefined ? {} : { modelParams }),
      importMode: versions.importMode,
      fidelity: exact === true ? exactFidelity : fidelity,
      config,
      features: { ...features },
      targets: (config.scope === 'user' && userTargets ? userTargets : targets).map((each) => ({ ...each })),
    };
  };
  return Object.defineProperty(factory, 'name', { value: type });
}
