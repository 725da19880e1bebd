import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { cliCommands } from '../commands.ts'

const read = async (name: string) =>
  parse(await readFile(`examples/certification/${name}`, 'utf8'), { strict: true })

/** The commands of Looptrace in the scripts of a pipeline. */
function commandsIn(scripts: readonly unknown[]): string[] {
  return scripts.flatMap((script) =>
    String(script)
      .split('\n')
      .flatMap((line) => /node \/app\/src\/main\.js (.+)/.exec(line)?.[1] ?? []),
  )
}

/** Expects that a command exists and has its options. */
function expectCommand(line: string): void {
  const [name = '', ...args] = line.split(' ').map((word) => word.replaceAll('"', ''))
  const command = cliCommands.find(({ words }) => words === name)
  const options = Object.entries(command?.options ?? {}).map(([option, { value, multiple }]) => [
    option,
    { type: value === undefined ? 'boolean' : 'string', ...(multiple && { multiple }) },
  ])
  const parsed = parseArgs({ args, options: Object.fromEntries(options), allowPositionals: true })
  expect(parsed.positionals.length).toBeGreaterThanOrEqual(command?.words_min ?? 1)
  expect(parsed.positionals.length).toBeLessThanOrEqual(command?.words_max ?? 0)
}

test('the workflow of GitHub calls existing commands, deploys after them, and interpolates no input in a script', async () => {
  const { jobs } = await read('pipelines/github-actions.yaml')
  const scripts = Object.values<{ steps: { run?: string }[] }>(jobs).flatMap(({ steps }) =>
    steps.flatMap(({ run }) => run ?? []),
  )
  const commands = commandsIn(scripts)
  expect(commands.map((line) => line.split(' ')[0])).toEqual(['certify', 'verify'])
  commands.forEach(expectCommand)
  expect(jobs.deploy.needs).toBe('certify')
  // An input in a script would be code: it comes as a variable.
  for (const script of scripts) expect(script).not.toContain('${{')
})

test('the pipeline of GitLab calls existing commands, and deploys no inconclusive release', async () => {
  const pipeline = await read('pipelines/gitlab-ci.yaml')
  const commands = commandsIn([...pipeline.certify.script, ...pipeline.deploy.script])
  expect(commands.map((line) => line.split(' ')[0])).toEqual(['certify', 'verify'])
  commands.forEach(expectCommand)
  expect(pipeline.certify.allow_failure.exit_codes).toEqual([2])
  expect(pipeline.deploy.script[0]).toContain(' verify ')
})

test('the template of Argo Rollouts neither certifies nor promotes without a certification', async () => {
  const template = await read('argo-rollouts.yaml')
  expect(template).toMatchObject({ apiVersion: 'argoproj.io/v1alpha1', kind: 'AnalysisTemplate' })
  const [metric] = template.spec.metrics
  expect(metric.provider.web.method).toBeUndefined()
  expect(metric).toMatchObject({ count: 1, successCondition: 'result == "certified"' })
  const names = template.spec.args.map(({ name }: { name: string }) => name)
  const used = [...JSON.stringify(metric).matchAll(/\{\{args\.([a-z-]+)\}\}/g)].map(([, it]) => it)
  expect(new Set(used)).toEqual(new Set(names))
})
