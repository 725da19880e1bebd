/**
 * Environment of the calls of the seeded scenario, reserved for it. Measurements and rules of a
 * project leave it out, unless a rule selects it by this name.
 */
export const scenarioEnvironment = 'looptrace-onboarding'
