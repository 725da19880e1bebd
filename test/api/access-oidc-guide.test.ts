import { readFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/platform/config/index.ts'
import { outcome, startAccessApp } from '../support/access-app.ts'
import { openBrowser } from '../support/browser.ts'
import { startProvider } from '../support/oidc-provider.ts'

test('the settings and calls of the guide work with a real provider', async () => {
  const guide = await readFile('docs/guides/sign-in-with-oidc.md', 'utf8')
  const blocks = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
  const [settings = '', show = '', leave = ''] = blocks
  const provider = await startProvider('https://looptrace.example.com')
  const env = parseEnv(settings)
  expect(env['LOOPTRACE_OIDC_CLIENT_ID']).toBe(provider.client_id)
  const config = loadConfig('all', {
    ...env,
    LOOPTRACE_OIDC_ISSUER: provider.url,
    LOOPTRACE_OIDC_CLIENT_SECRET: provider.client_secret,
  })
  const { public_url, oidc_issuer, oidc_client_id, oidc_client_secret } = config
  const { oidc_scopes, oidc_groups_claim, oidc_group_roles } = config
  const app = await startAccessApp({
    ...{ public_url, oidc_issuer, oidc_client_id, oidc_client_secret },
    ...{ oidc_scopes, oidc_groups_claim, oidc_group_roles },
  })
  provider.person = {
    ...{ sub: 'ada', email: 'ada@example.com', email_verified: true, groups: ['checkout'] },
  }
  const browser = openBrowser(app)
  const login = /https:\/\/looptrace\.example\.com(\/api\/v1\/auth\/oidc\/login\S+)`/.exec(guide)
  const started = await browser.call('GET', login?.[1] ?? '')
  const back = await browser.atProvider(String(started.headers['location']))
  const ended = await browser.comeBack(back)
  expect(ended.headers['location']).toBe('https://looptrace.example.com/tasks')
  const cookie = [...browser.own].map(([name, value]) => `${name}=${value}`).join('; ')
  const run = (command: string) => {
    const [, method = 'GET', url = ''] =
      /^curl (?:-X (\w+) )?\$LOOPTRACE_URL(\S+)/.exec(command) ?? []
    const headers = [...command.matchAll(/-H ["']([^:]+): ([^"']+)["']/g)].map(
      ([, name = '', value = '']) => [name.toLowerCase(), value.replace('$COOKIE', cookie)],
    )
    return app.call(method as 'GET' | 'DELETE', url, { headers: Object.fromEntries(headers) })
  }
  expect((await run(show)).body).toMatchObject({ email: 'ada@example.com', by_issuer: true })
  expect((await browser.call('GET', '/probe/editor')).status).toBe(200)
  expect((await run(leave)).body.logout_url).toContain(provider.url)
  expect(outcome(await run(show))).toEqual([401, 'credentials_invalid'])
  await app.close()
  await provider.close()
})
