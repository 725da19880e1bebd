import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ConfigError } from '../platform/config/index.ts'
import { operatorKeyFile, readConfiguredOperatorKey, readOperatorKey } from './data-folder.ts'

const unset = { operator_key: undefined, operator_key_file: undefined }
let data_directory: string

beforeEach(async () => {
  data_directory = await mkdtemp(join(tmpdir(), 'looptrace-operator-key-'))
})
afterEach(() => rm(data_directory, { recursive: true, force: true }))

test('generates a key once, in a file that only this account can read', async () => {
  const folder = join(data_directory, 'data')
  const made = await readOperatorKey({ ...unset, data_directory: folder })
  expect(made).toMatch(/^lt_op_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/)
  const path = join(folder, operatorKeyFile)
  expect(await readFile(path, 'utf8')).toBe(`${made}\n`)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readOperatorKey({ ...unset, data_directory: folder })).toBe(made)
})

test('uses a configured key, from the variable or its file, and generates none', async () => {
  const path = join(data_directory, 'given')
  await writeFile(path, ' from a file\n')
  const about = { ...unset, data_directory }
  expect(await readOperatorKey({ ...about, operator_key: 'set' })).toBe('set')
  expect(await readOperatorKey({ ...about, operator_key_file: path })).toBe('from a file')
  await expect(stat(join(data_directory, operatorKeyFile))).rejects.toThrow('ENOENT')
  expect(await readConfiguredOperatorKey(unset)).toBeUndefined()
})

test('rejects both settings at once, and a missing file', async () => {
  const path = join(data_directory, 'none')
  const both = readConfiguredOperatorKey({ operator_key: 'set', operator_key_file: path })
  await expect(both).rejects.toThrow(ConfigError)
  const missing = readConfiguredOperatorKey({ ...unset, operator_key_file: path })
  await expect(missing).rejects.toThrow(`LOOPTRACE_OPERATOR_KEY_FILE: ${path} cannot be read`)
})
