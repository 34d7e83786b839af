// `@stax/generic`: an adapter for a runtime that nobody has described. The author states everything; what a complete
// configuration lacks is left out, so that whoever reads it can say so.
export function generic(options) {
  return {
    type: 'generic',
    runtime: 'generic',
    adapterVersion: '1.0.0',
    ...options,
    config: options?.config ?? {},
    features: options?.features ?? {},
  };
}

export default generic;
