import { expect, test } from 'vitest'
import { loadConfig } from '../platform/config/index.ts'
import { createLogger, createMetrics } from '../platform/telemetry/index.ts'
import { openJudge } from './detection.ts'

function openWith(models: readonly object[]) {
  const context = {
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
  }
  const env = { LOOPTRACE_VERIFICATION_MODELS: JSON.stringify(models) }
  return openJudge(context, loadConfig('worker', env), { db: undefined as never })
}

const chat = {
  ...{ name: 'judge', type: 'openai', url: 'https://judge.example/v1', model: 'm' },
  ...{ cents_per_million_input: 10, cents_per_million_output: 40 },
}

test('only a model with this use judges lost context', () => {
  const vectors = { ...chat, type: 'embeddings', cents_per_million_output: undefined }
  expect(openWith([])).toBeUndefined()
  expect(openWith([vectors])).toBeUndefined()
  expect(openWith([{ ...chat, use: ['judge', 'multi_model', 'extract'] }])).toBeUndefined()
  expect(openWith([{ ...chat, use: ['judge', 'lost_context'] }])).toBeTypeOf('function')
})
