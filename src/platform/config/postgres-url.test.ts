import { expect, test } from 'vitest'
import { loadConfig } from './load-config.ts'

const parts = { LOOPTRACE_POSTGRES_HOST: 'pg-rw', LOOPTRACE_POSTGRES_PASSWORD: 'a/b:c@d#e?f %25' }

test('the address is made of its parts, whatever the password has in it', () => {
  const url = new URL(loadConfig('worker', parts).postgres_url ?? '')
  expect(url.host).toBe('pg-rw:5432')
  expect(decodeURIComponent(url.password)).toBe('a/b:c@d#e?f %25')
  expect(url.pathname).toBe('/looptrace')
  expect(Object.fromEntries(url.searchParams)).toEqual({
    sslmode: 'require',
    uselibpqcompat: 'true',
  })
})

test('an address that is set whole wins, and none at all stays none', () => {
  const whole = { ...parts, LOOPTRACE_POSTGRES_URL: 'postgres://me@other/db' }
  expect(loadConfig('worker', whole).postgres_url).toBe('postgres://me@other/db')
  expect(loadConfig('all', {}).postgres_url).toBeUndefined()
})

test('the certificate authority goes along, and an IPv6 address is an address', () => {
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
