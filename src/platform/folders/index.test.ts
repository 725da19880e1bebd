import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { assertUsable, FolderInUse, FolderUnusable, lockFolder, makeFolder } from './index.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-folders-'))
})
afterEach(() => rm(directory, { recursive: true }))

test('creates a folder and its parents with the mode, also concurrently', async () => {
  const path = join(directory, 'a/b/c')
  await Promise.all([1, 2, 3].map(() => makeFolder(path, { mode: 0o700 })))
  for (const made of ['a', 'a/b', 'a/b/c']) {
    expect((await stat(join(directory, made))).mode & 0o777).toBe(0o700)
  }
  await makeFolder(path)
})

test('accepts a link to a folder', async () => {
  await symlink(directory, join(directory, 'here'))
  await makeFolder(join(directory, 'here/made'))
  expect((await stat(join(directory, 'made'))).isDirectory()).toBe(true)
})

test('names the obstacle, and never loops', async () => {
  const file = join(directory, 'file')
  await writeFile(file, '')
  await symlink(join(directory, 'gone/away'), join(directory, 'link'))
  await symlink('self', join(directory, 'self'))
  const refusals: [path: string, reason: string][] = [
    [file, `${file} is a file, not a folder`],
    [join(file, 'a/b'), `${file} is a file, not a folder`],
    [join(directory, 'link/a'), `${directory}/link is a link that leads nowhere`],
    [join(directory, 'self/a'), `${directory}/self/a is a link that leads to itself`],
    ...(process.platform === 'linux'
      ? [['/proc/looptrace/a', '/proc/looptrace cannot be used (ENOENT of mkdir)'] as never]
      : []),
  ]
  for (const [path, reason] of refusals) {
    const error = await makeFolder(path).catch((refused: unknown) => refused)
    expect(error).toBeInstanceOf(FolderUnusable)
    expect(error).toMatchObject({ message: reason, fault: 'unfit' })
  }
})

test('rejects a disk without enough free space', async () => {
  await assertUsable(directory, { free_bytes_min: 1 })
  const asked = assertUsable(directory, { free_bytes_min: 2 ** 50 })
  await expect(asked).rejects.toThrow(
    /has \d+ MiB free on its disk, expected at least 1073741824 MiB/,
  )
})

test('a folder has one holder at a time', () => {
  const unlock = lockFolder(directory)
  expect(() => lockFolder(directory)).toThrow(FolderInUse)
  unlock()
  lockFolder(directory)()
})
