export { type ChatModel, type ChatQuestion, openChatModel, readAnswer } from './chat-model.ts'
export { type EmbeddingModel, openEmbeddingModel } from './embedding-model.ts'
export {
  isSameModel,
  type ModelSettings,
  PaidCallFailed,
  type PaidReply,
  type PricedCall,
} from './model.ts'
export { type NliModel, type NliScore, openNliModel, readScores } from './nli-model.ts'
