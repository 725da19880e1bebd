import { expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { runRole } from '../support/service.ts'

/** test/e2e/chart-*.test.ts tests its success; here are its failures. */
test('without a service it ends with status 1 and the address that did not answer', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const { status, output } = await runRole('smoke-test', {
    LOOPTRACE_SMOKE_PROXY_URL: url,
    LOOPTRACE_SMOKE_API_URL: url,
    LOOPTRACE_SMOKE_PROJECT_KEY: 'lt_a_key_that_nobody_looks_at',
    LOOPTRACE_SMOKE_PROVIDER_PORT: String(await freePort()),
    LOOPTRACE_SMOKE_WAIT_MS_MAX: '1000',
  })
  expect(status).toBe(1)
  expect(output).toContain(`POST ${url}/v1/chat/completions`)
  expect(output).not.toContain('"done"')
})

test('without a key it names the missing setting', async () => {
  const { status, output } = await runRole('smoke-test', {})
  expect(status).toBe(1)
  expect(output).toContain('LOOPTRACE_SMOKE_PROJECT_KEY: missing, expected a project key')
})
