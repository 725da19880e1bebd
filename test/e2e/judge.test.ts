import { expect, test } from 'vitest'
import { apiByKey } from '../support/clients/api-reader.ts'
import { eventually } from '../support/eventually.ts'
import { testProvider } from '../support/provider.ts'
import { rawPost } from '../support/raw-post.ts'
import { Secrets } from '../support/secrets.ts'
import { startSingleMachine } from '../support/single-machine.ts'

const breach = '{"breaches":[{"statement":0,"answer":0,"why":"A bargain is cheap."}]}'

test('role all asks the configured judge, and its key appears nowhere', async () => {
  const secrets = new Secrets()
  const key = secrets.add('key of the judge', 'sk-judge-9XbV2mZ4rL8sD1fG6hJ3kP5n')
  await using judge = await testProvider({ script: { steps: [{ reply: { content: breach } }] } })
  await using machine = await startSingleMachine({
    env: {
      LOOPTRACE_LOG_LEVEL: 'trace',
      LOOPTRACE_JUDGE_URL: judge.base_urls.openai,
      LOOPTRACE_JUDGE_MODEL: 'judge-1',
      LOOPTRACE_JUDGE_API_KEY: key,
      LOOPTRACE_JUDGE_ALLOWED_HOSTS: 'localhost, 127.0.0.1',
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
  const url = `${service.base_url}/v1/chat/completions`
  await rawPost(url, call, { ...headers, 'x-task-id': 'judged' })
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
  await service.stop()
  expect(await secrets.inFiles(machine.directory)).toEqual([])
})
