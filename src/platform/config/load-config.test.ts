import { expect, test } from 'vitest'
import { configurationPage } from './configuration-page.ts'
import { ConfigError, loadConfig, variableOf } from './load-config.ts'
import { roleSchemas } from './roles.ts'

test('unset and empty variables take the default', () => {
  const config = loadConfig('all', { LOOPTRACE_HTTP_PORT: '' })
  expect(config.http_port).toBe(8080)
  expect(config.demo).toBe(true)
  expect(config.postgres_url).toBeUndefined()
})

test.each([
  ['LOOPTRACE_HTTP_PORT', 'abc', 'got "abc", expected a whole number from 0 to 65535'],
  ['LOOPTRACE_HTTP_PORT', '70000', 'got "70000", expected a whole number from 0 to 65535'],
  ['LOOPTRACE_LOG_LEVEL', 'loud', 'got "loud", expected `trace` or `debug`'],
  ['LOOPTRACE_OPENAI_BASE_URL', 'ftp://x', 'expected a URL that begins with http:// or https://'],
  ['LOOPTRACE_DEMO', 'maybe', 'got "maybe", expected `true` or `false`'],
  ['LOOPTRACE_HTPP_PORT', '1', 'unknown setting'],
  ['LOOPTRACE_PUBLIC_URL', 'https://x.example/app', 'expected an origin'],
  ['LOOPTRACE_PUBLIC_URL', 'https://me@x.example', 'expected an origin'],
  ['LOOPTRACE_PUBLIC_URL', 'https://x.example/?', 'expected an origin'],
  ['LOOPTRACE_PUBLIC_URL', 'javascript:alert(1)', 'expected an origin'],
  ['LOOPTRACE_HTTP_TRUSTED_PROXIES', '0.0.0.0/0', 'expected IP addresses or CIDR blocks'],
  ['LOOPTRACE_HTTP_TRUSTED_PROXIES', '10.0.0.0/33', 'expected IP addresses or CIDR blocks'],
  ['LOOPTRACE_HTTP_TRUSTED_PROXIES', 'proxy.example', 'expected IP addresses or CIDR blocks'],
])('%s=%s stops the start and names the expected value', (name, value, message) => {
  const load = () => loadConfig('all', { [name]: value })
  expect(load).toThrow(ConfigError)
  expect(load).toThrow(name)
  expect(load).toThrow(message)
})

test('reads an origin without its slash, and a list of proxies', () => {
  const config = loadConfig('all', {
    LOOPTRACE_PUBLIC_URL: 'https://x.example:8443/',
    LOOPTRACE_HTTP_TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32,192.0.2.1',
  })
  expect(config.public_url).toBe('https://x.example:8443')
  expect(config.http_trusted_proxies).toEqual(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'])
  expect(loadConfig('all', {}).http_trusted_proxies).toEqual([])
})

test('a removed setting stops the start and names what replaced it', () => {
  const load = () => loadConfig('operator', { LOOPTRACE_OPERATOR_PROJECTS: '{"a":["b"]}' })
  expect(load).toThrow(/LOOPTRACE_OPERATOR_PROJECTS: was replaced by the kind ProjectGrant: apply/)
})

test('an invalid secret is named but not shown', () => {
  const load = () => loadConfig('all', { LOOPTRACE_SECRET_KEY: 'hunter2' })
  expect(load).toThrow('LOOPTRACE_SECRET_KEY: got (a secret), expected at least 32 characters')
  expect(load).not.toThrow('hunter2')
})

test.each(['mysql://me:hunter2@host/db', 'mysql:/me:hunter2@host', 'me:hun:ter2@hunter2@host/db'])(
  'the password in %s is not shown',
  (url) => {
    const load = () => loadConfig('all', { LOOPTRACE_POSTGRES_URL: url })
    expect(load).toThrow(/got ".*me:\*\*\*@host.*", expected a URL that begins with postgres/)
    expect(load).not.toThrow('hunter2')
  },
)

test('the page has every setting with its unit and description', () => {
  const page = configurationPage()
  for (const { shape } of Object.values(roleSchemas)) {
    for (const setting of Object.keys(shape)) expect(page).toContain(`\`${variableOf(setting)}\``)
  }
  expect(page).toContain('| `LOOPTRACE_HTTP_PORT` | port | `8080` | proxy api all |')
  expect(page).not.toContain('undefined')
})

test('`off` disables a port, and an unset port takes its default', () => {
  expect(loadConfig('proxy', { LOOPTRACE_OTLP_GRPC_PORT: 'off' }).otlp_grpc_port).toBeUndefined()
  expect(loadConfig('proxy', {}).otlp_grpc_port).toBe(4317)
})

const parts = { LOOPTRACE_POSTGRES_HOST: 'pg-rw', LOOPTRACE_POSTGRES_PASSWORD: 'a/b:c@d#e?f %25' }

test('builds the address from its parts, with any characters in the password', () => {
  const url = new URL(loadConfig('worker', parts).postgres_url ?? '')
  expect(url.host).toBe('pg-rw:5432')
  expect(decodeURIComponent(url.password)).toBe('a/b:c@d#e?f %25')
  expect(url.pathname).toBe('/looptrace')
  expect(Object.fromEntries(url.searchParams)).toEqual({
    sslmode: 'require',
    uselibpqcompat: 'true',
  })
})

test('a URL wins over parts, and without either there is no address', () => {
  const whole = { ...parts, LOOPTRACE_POSTGRES_URL: 'postgres://me@other/db' }
  expect(loadConfig('worker', whole).postgres_url).toBe('postgres://me@other/db')
  expect(loadConfig('all', {}).postgres_url).toBeUndefined()
})

test('adds the certificate authority, and accepts an IPv6 address', () => {
  const { postgres_url = '' } = loadConfig('worker', {
    LOOPTRACE_POSTGRES_HOST: 'fd00::1',
    LOOPTRACE_POSTGRES_SSL_MODE: 'verify-full',
    LOOPTRACE_POSTGRES_CA_FILE: '/etc/ca.crt',
  })
  const url = new URL(postgres_url)
  expect(url.hostname).toBe('[fd00::1]')
  expect(url.searchParams.get('sslmode')).toBe('verify-full')
  expect(url.searchParams.get('sslrootcert')).toBe('/etc/ca.crt')
})
