export { spanKey } from './agent-lanes.ts'
export {
  type DeclaredTool,
  type HistoryBreak,
  type KnownRows,
  type Message,
  type ModelCall,
  type Place,
  type Reconstruction,
  type ReconstructionOptions,
  type Step,
  type TaskIdentity,
  type TaskRun,
  type Thread,
  type ToolFault,
  type ToolUse,
  text_chars_max,
} from './contract.ts'
export { digestOf } from './digests.ts'
export { readHistory } from './follow-history.ts'
export { readAnswer } from './read-answer.ts'
export type { HistoryMessage } from './read-messages.ts'
export { createReconstruction, reconstruct } from './reconstruction.ts'
