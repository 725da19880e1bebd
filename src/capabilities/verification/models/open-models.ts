import {
  type ChatModel,
  type EmbeddingModel,
  type ModelSettings,
  openChatModel,
  openEmbeddingModel,
  openNliModel,
} from '../../../platform/models/index.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import { createClaimExtractor, type ExtractClaims } from './extract-claims.ts'
import { createJudge, estimateJudge, type OpenJudge } from './judge.ts'

/** A model as `GET /api/v1/verification/config` lists it: without its address and key. */
export type ShownModel = { name: string; type: ModelSettings['type']; model: string; use: string[] }

/** The models of an installation. */
export type Models = {
  list: readonly ShownModel[]
  /** Undefined when no model judges. */
  openJudge: OpenJudge | undefined
  /** Returns the most that judging claims costs; undefined when no model judges. */
  estimateJudge: ((claims: number) => { calls: number; nano_dollars: bigint }) | undefined
  /** Models that answer questions for `multi_model`. */
  answering: readonly ChatModel[]
  /** Extracts claims by a model; undefined when no model has `use: extract`. */
  extractClaims: ExtractClaims | undefined
  /** Undefined when no model makes vectors. */
  embeddings: EmbeddingModel | undefined
}

/** Opens the models of the configuration. Nothing is sent before a call. */
export function openModels(settings: readonly ModelSettings[], outbound: Outbound): Models {
  const chats = settings.flatMap((one) =>
    one.type === 'openai' ? [{ use: one.use, model: openChatModel(one, outbound) }] : [],
  )
  const chatFor = (wanted: (typeof chats)[number]['use'][number]) =>
    chats.filter(({ use }) => use.includes(wanted)).map(({ model }) => model)
  const nli = settings.flatMap((one) =>
    one.type === 'nli-http' ? [openNliModel(one, outbound)] : [],
  )
  const embedding = settings.find((one) => one.type === 'embeddings')
  const [extractor] = chatFor('extract')
  const chat = chatFor('judge')
  const hasJudge = chat.length + nli.length > 0
  return {
    list: settings.map(toShown),
    openJudge: hasJudge ? createJudge({ chat, nli }) : undefined,
    estimateJudge: hasJudge ? (claims) => estimateJudge({ chat, nli }, claims) : undefined,
    answering: chatFor('multi_model'),
    extractClaims: extractor && createClaimExtractor(extractor),
    embeddings: embedding && openEmbeddingModel(embedding, outbound),
  }
}

function toShown(settings: ModelSettings): ShownModel {
  const { name, type, model = name } = settings
  if (type === 'openai') return { name, type, model, use: [...settings.use] }
  return { name, type, model, use: [type === 'nli-http' ? 'judge' : 'search'] }
}
