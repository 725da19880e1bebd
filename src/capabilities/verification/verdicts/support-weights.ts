/**
 * Weights of the signs of support: a logistic regression on 2,067 labelled claims.
 * `node bench/verification/fit.ts --write` writes this file.
 */
export const supportWeights = {
  recall: 1.48,
  usedWords: 0.55,
  length: 1.53,
  sharedNumbers: 0.88,
  nearNumbers: 0.88,
  openValues: -0.25,
  bothDeny: 1.38,
  missingName: -0.44,
  limited: -0.62,
  clashes: -0.45,
  otherOrder: -0.35,
  rival: -0.12,
} as const
export const supportIntercept = -4.44

/** Probability from which words alone support a claim without an obstacle. */
export const supported_min = 0.6
