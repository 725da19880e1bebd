import { expect, test } from 'vitest'
import { ConfigError, loadConfig } from '../platform/config/index.ts'
import { createLogger, createMetrics } from '../platform/telemetry/index.ts'
import { openJudge } from './detection.ts'

function openWith(env: Record<string, string>) {
  const context = {
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
  }
  return openJudge(context, loadConfig('worker', env), { db: undefined as never })
}

test('without a URL there is no judge, even with other settings', () => {
  expect(openWith({})).toBeUndefined()
  expect(openWith({ LOOPTRACE_JUDGE_MODEL: 'm', LOOPTRACE_JUDGE_API_KEY: 'k' })).toBeUndefined()
})

test('a URL without a model stops the start', () => {
  const url = 'https://judge.example/v1'
  expect(() => openWith({ LOOPTRACE_JUDGE_URL: url })).toThrow(ConfigError)
  expect(() => openWith({ LOOPTRACE_JUDGE_URL: url })).toThrow('LOOPTRACE_JUDGE_MODEL')
  expect(openWith({ LOOPTRACE_JUDGE_URL: url, LOOPTRACE_JUDGE_MODEL: 'm' })).toBeTypeOf('function')
})
