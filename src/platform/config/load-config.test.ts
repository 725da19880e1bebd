import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
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

const folder = mkdtempSync(join(tmpdir(), 'looptrace-setting-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

const key = 'the key of all pods, 32 characters or more'

function fileWith(content: string | Uint8Array): string {
  const path = join(folder, crypto.randomUUID())
  writeFileSync(path, content, { mode: 0o400 })
  return path
}

test.each(['', '\n', '\r\n'])(
  'a setting is read from a file, without its end of line %j',
  (end) => {
    const { secret_key } = loadConfig('api', { LOOPTRACE_SECRET_KEY_FILE: fileWith(key + end) })
    expect(secret_key).toBe(key)
  },
)

const texts = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => !/\0|\r$/.test(one))

test('only one end of line is removed, and every other character is kept', () => {
  fc.assert(
    fc.property(texts, (value) => {
      const { audit_stream_webhook_headers } = loadConfig('worker', {
        LOOPTRACE_AUDIT_STREAM_WEBHOOK_HEADERS_FILE: fileWith(`${value}\n`),
      })
      expect(audit_stream_webhook_headers).toBe(value)
    }),
  )
  const two = loadConfig('worker', {
    LOOPTRACE_AUDIT_STREAM_WEBHOOK_HEADERS_FILE: fileWith(' a\n\n'),
  })
  expect(two.audit_stream_webhook_headers).toBe(' a\n')
})

test('the address of PostgreSQL has the password of the file', () => {
  const { postgres_url = '' } = loadConfig('worker', {
    LOOPTRACE_POSTGRES_HOST: 'pg',
    LOOPTRACE_POSTGRES_PASSWORD_FILE: fileWith('a/b:c@d\n'),
  })
  expect(decodeURIComponent(new URL(postgres_url).password)).toBe('a/b:c@d')
})

test('an empty file counts as unset, as an empty variable does', () => {
  const env = {
    LOOPTRACE_CLICKHOUSE_PASSWORD_FILE: fileWith('\n'),
    LOOPTRACE_AUDIT_STREAM_WEBHOOK_HEADERS_FILE: '',
  }
  const config = loadConfig('worker', env)
  expect(config.clickhouse_password).toBeUndefined()
  expect(config.audit_stream_webhook_headers).toBeUndefined()
})

test('a setting that is itself the path of a file is not read', () => {
  const env = { LOOPTRACE_NATS_CREDENTIALS_FILE: '/missing/nats.creds' }
  expect(loadConfig('worker', env).nats_credentials_file).toBe('/missing/nats.creds')
})

test('the files of other roles are not opened', () => {
  expect(loadConfig('proxy', { LOOPTRACE_SECRET_KEY_FILE: '/missing' })).toBeDefined()
})

test('a variable and its file are not both set', () => {
  const load = () =>
    loadConfig('api', { LOOPTRACE_SECRET_KEY: key, LOOPTRACE_SECRET_KEY_FILE: fileWith(key) })
  expect(load).toThrow(ConfigError)
  expect(load).toThrow('LOOPTRACE_SECRET_KEY and LOOPTRACE_SECRET_KEY_FILE: got both, set only one')
  expect(load).not.toThrow(key)
})

test('an invalid value names the file and never its content', () => {
  const path = fileWith('hunter2\n')
  const load = () => loadConfig('all', { LOOPTRACE_HTTP_PORT_FILE: path })
  expect(load).toThrow(
    `LOOPTRACE_HTTP_PORT_FILE: got the content of ${path}, expected a whole number from 0 to 65535`,
  )
  expect(load).not.toThrow('hunter2')
  const list = { LOOPTRACE_LOG_LEVEL_FILE: path, LOOPTRACE_POSTGRES_URL_FILE: path }
  expect(() => loadConfig('all', list)).not.toThrow('hunter2')
  expect(() => loadConfig('all', list)).toThrow(/LOG_LEVEL_FILE: .*\n.*POSTGRES_URL_FILE: /s)
})

test.each([
  ['a missing file', () => join(folder, 'missing'), 'it does not exist'],
  ['a folder', () => folder, 'it is not a file'],
  ['a device without end', () => '/dev/zero', 'it is not a file'],
  ['a pipe that never answers', () => pipe(), 'it is not a file'],
  ['a large file', () => fileWith('x'.repeat(65_537)), 'it is larger than 65536 bytes'],
  ['bytes that are not text', () => fileWith(Uint8Array.of(0xff, 0xfe)), 'it is not UTF-8 text'],
  ['a text with a zero byte', () => fileWith('a\0b'), 'it is not UTF-8 text'],
])('%s is refused with its path', (_what, make, why) => {
  const path = make()
  const load = () => loadConfig('api', { LOOPTRACE_SECRET_KEY_FILE: path })
  expect(load).toThrow(ConfigError)
  expect(load).toThrow(`LOOPTRACE_SECRET_KEY_FILE: ${path} cannot be read: ${why}`)
})

test('a misspelt name is unknown, also with _FILE', () => {
  const load = () => loadConfig('api', { LOOPTRACE_SECRET_KYE_FILE: fileWith(key) })
  expect(load).toThrow('LOOPTRACE_SECRET_KYE_FILE: unknown setting')
})

test('only the key of the operator, which is read again when it changes, has a setting for its file', () => {
  const names = Object.values(roleSchemas).flatMap(({ shape }) => Object.keys(shape))
  const known = new Set(names.map(variableOf))
  expect([...known].filter((name) => known.has(`${name}_FILE`))).toEqual(['LOOPTRACE_OPERATOR_KEY'])
})

function pipe(): string {
  const path = join(folder, crypto.randomUUID())
  execFileSync('mkfifo', [path])
  return path
}
