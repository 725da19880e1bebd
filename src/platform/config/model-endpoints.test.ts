import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ConfigError, loadConfig } from './load-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'looptrace-model-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

const judge = {
  ...{ name: 'judge', type: 'openai', use: ['judge'], url: 'https://llm.example/v1', model: 'm' },
  ...{ cents_per_million_input: 15, cents_per_million_output: 60.5 },
}
const nli = {
  ...{ name: 'nli', type: 'nli-http', url: 'http://nli.models:8000', cents_per_million_input: 0 },
}
const embeddings = {
  ...{ name: 'e', type: 'embeddings', url: 'https://e.example/v1', model: 'e' },
  cents_per_million_input: 2,
}

function load(models: unknown, env: Record<string, string> = {}) {
  const text = typeof models === 'string' ? models : JSON.stringify(models)
  return loadConfig('worker', { LOOPTRACE_VERIFICATION_MODELS: text, ...env })
}

test('models have defaults, and keys of a variable or a file', () => {
  const file = join(folder, 'key')
  writeFileSync(file, 'sk-of-the-file\n')
  const { verification_models } = load(
    [{ ...judge, api_key_env: 'OPENAI_KEY' }, { ...nli, api_key_file: file }, embeddings],
    { OPENAI_KEY: 'sk-of-the-variable' },
  )
  expect(verification_models).toMatchObject([
    { ...judge, api_key: 'sk-of-the-variable', timeout_ms: 20_000 },
    { ...nli, api_key: 'sk-of-the-file', use: ['judge'], format: 'nli' },
    embeddings,
  ])
  expect(verification_models[2]).not.toHaveProperty('api_key')
})

test('the list of the guide is valid', () => {
  const guide = readFileSync('docs/guides/add-a-judge.md', 'utf8')
  const [list = ''] = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => json)
  const { verification_models } = load(list, { OPENAI_API_KEY: 'sk-1' })
  expect(verification_models.map(({ name }) => name)).toEqual([
    ...['judge', 'second', 'grounding', 'vectors'],
  ])
})

test('without the setting there are no models, and a budget', () => {
  const { verification_models, verification_budget_cents_per_day } = loadConfig('api', {})
  expect([verification_models, verification_budget_cents_per_day]).toEqual([[], 100])
})

test.each([
  ['no JSON', '{', 'expected a JSON list of at most 16 models'],
  ['an object', {}, 'expected a JSON list of at most 16 models'],
  ['too many', Array.from({ length: 17 }, () => judge), 'at most 16 models'],
  ['a name twice', [judge, judge], 'two models have the name judge, expected different names'],
  [
    'two models of type embeddings',
    [embeddings, { ...embeddings, name: 'f' }],
    'at most one model',
  ],
  ['no use', [{ ...judge, use: [] }], 'model 1: use: '],
  ['an unknown use', [{ ...judge, use: ['vote'] }], 'model 1: use.0: '],
  ['an unknown type', [judge, { ...judge, type: 'grpc' }], 'model 2: type: '],
  ['no price', [{ ...judge, cents_per_million_output: undefined }], 'cents_per_million_output: '],
  ['a negative price', [{ ...nli, cents_per_million_input: -1 }], 'cents_per_million_input: '],
  ['a file as URL', [{ ...judge, url: 'file:///etc/passwd' }], 'model 1: url: expected a URL'],
  ['a password in the URL', [{ ...judge, url: 'https://a:hush@b' }], 'without user or password'],
  ['two sources of a key', [{ ...judge, api_key_env: 'A', api_key_file: '/a' }], 'only one of'],
  ['a variable of Looptrace', [{ ...judge, api_key_env: 'LOOPTRACE_KEY' }], 'without LOOPTRACE_'],
  ['the key itself', [{ ...judge, api_key: 'hush' }], 'model 1: has an unknown field'],
  ['the key as a name', [{ ...judge, hush: 'hush' }], 'model 1: has an unknown field'],
  [
    'an unset variable',
    [{ ...judge, api_key_env: 'UNSET_1' }],
    'api_key_env of model judge: the key',
  ],
  [
    'a missing file',
    [{ ...judge, api_key_file: '/none' }],
    '/none cannot be read: it does not exist',
  ],
  ['a folder', [{ ...judge, api_key_file: '/tmp' }], '/tmp cannot be read: it is not a file'],
  ['a key of two lines', [{ ...judge, api_key_env: 'TWO' }], 'the key is missing or invalid'],
])('%s stops the start and is not shown', (_what, models, message) => {
  const act = () => load(models, { TWO: 'hush\nx-other: 1' })
  expect(act).toThrow(ConfigError)
  expect(act).toThrow(`LOOPTRACE_VERIFICATION_MODELS: `)
  expect(act).toThrow(message)
  expect(act).not.toThrow('hush')
})
