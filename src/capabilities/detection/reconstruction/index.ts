export type {
  Reconstruction,
  RunAbout,
  Step,
  TaskRun,
  Thread,
  ToolFault,
  ToolUse,
} from './contract.ts'
export { createReconstruction, reconstruct } from './reconstruction.ts'
