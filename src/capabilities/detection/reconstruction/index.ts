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
export { spanKey } from './histories/agent-lanes.ts'
export { readHistory } from './histories/follow-history.ts'
export { digestOf } from './reading/digests.ts'
export { readAnswer } from './reading/read-answer.ts'
export type { HistoryMessage } from './reading/read-messages.ts'
export { createReconstruction, reconstruct } from './reconstruction.ts'
