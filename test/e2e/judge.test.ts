import { expect, test } from 'vitest'
import { apiByKey, apiByToken } from '../support/clients/api-reader.ts'
import { eventually } from '../support/eventually.ts'
import { testProvider } from '../support/provider.ts'
import { rawPost } from '../support/raw-post.ts'
import { Secrets } from '../support/secrets.ts'
import { startSingleMachine } from '../support/single-machine.ts'

const breach = '{"breaches":[{"statement":0,"answer":0,"why":"A bargain is cheap."}]}'

const prices = { cents_per_million_input: 10, cents_per_million_output: 40 }
const reader = {
  ...{ name: 'reader', type: 'openai', use: ['judge'], url: 'https://llm.example/v1' },
  ...{ model: 'm-1', api_key_env: 'VERIFICATION_KEY', ...prices },
}
const contextModel = {
  ...{ name: 'judge-1', type: 'openai', use: ['lost_context'] },
  ...{ model: 'm-2', api_key_env: 'JUDGE_KEY', ...prices },
}

test('role all asks the configured judge, and keys of models appear nowhere', async () => {
  const secrets = new Secrets()
  const key = secrets.add('key of the judge', 'sk-judge-9XbV2mZ4rL8sD1fG6hJ3kP5n')
  const modelKey = secrets.add('key of a model of verification', 'sk-model-4TqW8nB1vC6xZ0pL5yH')
  await using judge = await testProvider({ script: { steps: [{ reply: { content: breach } }] } })
  const url = judge.base_urls.openai
  await using machine = await startSingleMachine({
    env: {
      LOOPTRACE_LOG_LEVEL: 'trace',
      JUDGE_KEY: key,
      VERIFICATION_KEY: modelKey,
      LOOPTRACE_VERIFICATION_MODELS: JSON.stringify([reader, { ...contextModel, url }]),
      LOOPTRACE_OUTBOUND_ALLOWED: `127.0.0.1/32:${new URL(url).port}`,
    },
    script: { steps: [{ reply: { content: 'Four euros, which is a bargain.' } }] },
  })
  const { service, login } = machine
  const messages = [
    { role: 'system', content: 'Never use the word "cheap".' },
    { role: 'user', content: 'What does it cost?' },
  ]
  const call = { model: 'gpt-4.1-mini', messages }
  const headers = { 'x-api-key': login.project_key, authorization: 'Bearer provider-key' }
  await rawPost(`${service.base_url}/v1/chat/completions`, call, {
    ...headers,
    'x-task-id': 'judged',
  })
  const api = apiByKey({ api_url: service.base_url, login })
  const findings = async () => {
    const { body } = await api.get('/api/v1/tasks/judged/findings')
    return (body['findings'] ?? []) as object[]
  }
  await eventually('the judge has found something', async () => (await findings()).length > 0, {
    timeout_ms: 40_000,
    interval_ms: 200,
  })
  expect(await findings()).toMatchObject([{ type: 'lost_context', judge: 'judge-1' }])
  const [asked] = judge.seen().requests
  expect(asked?.headers.map((header) => header.join(': '))).toContain(
    `authorization: Bearer ${key}`,
  )
  const metrics = await (await fetch(`${service.management_url}/metrics`)).text()
  expect(metrics).toContain('looptrace_judge_questions_total{result="answered"} 1')
  expect(secrets.in(metrics)).toEqual([])
  expect(secrets.in(service.output())).toEqual([])
  const people = await apiByToken({ api_url: service.base_url, login })
  const { status, body } = await people.get('/api/v1/verification/config')
  expect([status, body['models']]).toEqual([
    ...[
      200,
      [
        { name: 'reader', type: 'openai', model: 'm-1', use: ['judge'] },
        { name: 'judge-1', type: 'openai', model: 'm-2', use: ['lost_context'] },
      ],
    ],
  ])
  expect(secrets.in(JSON.stringify(body))).toEqual([])
  expect(JSON.stringify(body)).not.toContain('llm.example')
  await service.stop()
  expect(await secrets.inFiles(machine.directory)).toEqual([])
})
