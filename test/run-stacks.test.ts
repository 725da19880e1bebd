import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'
import { chooseStacks } from './tools/emissions/each-stack.ts'
import { stacks } from './tools/emissions/stacks.ts'

/** Runs a program with Node. */
function run(...args: string[]): Promise<{ status: number; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, _, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stderr })
    })
  })
}

test.each(['run-stacks', 'record-stacks'])('%s: unknown stacks are named', async (script) => {
  const { status, stderr } = await run(`scripts/${script}.ts`, 'gopher', 'litellm', 'lisp')
  expect([status, stderr]).toEqual([1, expect.stringContaining('unknown stacks: gopher, lisp.')])
})

test('a stack that fails is named, and the others run', async () => {
  const program = `
    import { chooseStacks, runEach } from './test/tools/emissions/each-stack.ts'
    await runEach(chooseStacks(['litellm', 'haystack', 'smolagents']), async ({ name }) => {
      if (name === process.argv[1]) throw new Error('no package')
      console.error('ran ' + name)
    })`
  const one = await run('--input-type=module-typescript', '-e', program, 'haystack')
  expect(one.status).toBe(1)
  expect(one.stderr).toContain('haystack: no package')
  expect(one.stderr).toContain('failed: haystack\n')
  expect(one.stderr.match(/^ran /gm)).toHaveLength(2)
  const none = await run('--input-type=module-typescript', '-e', program, 'nothing')
  expect(none.status).toBe(0)
})

test('without names all stacks are chosen', () => {
  expect(chooseStacks([])).toEqual(stacks)
  expect(chooseStacks(['litellm']).map(({ name }) => name)).toEqual(['litellm'])
})
