export { minCalibrationLabels } from './calibration.ts'
export { trustFormula, verifierWeights } from './fuse.ts'
