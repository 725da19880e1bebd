export { calibrationLabels_min } from './calibration.ts'
export { trustFormula, verifierWeights } from './fuse.ts'
