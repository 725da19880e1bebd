export { quote_chars_max } from '../contract.ts'
export { minCalibrationLabels } from './calibration.ts'
export { trustFormula, verifierWeights } from './fuse.ts'
export {
  type Recomputed,
  recomputeTrust,
  runExportFormat,
  scoredClaim,
  trustScore,
  usedCalibrations,
} from './recompute.ts'
