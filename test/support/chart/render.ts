import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type CommandResult, runCommand } from '../kube/commands.ts'
import type { KubeObject } from '../kube/kube-request.ts'
import { helmPath } from '../kube/tools.ts'

/** The chart's folder. */
export const chart = join(import.meta.dirname, '../../../charts/looptrace')

/** Runs a helm command that needs no cluster, with the values in a file. */
export async function helm(args: readonly string[], values: object = {}): Promise<CommandResult> {
  const home = await mkdtemp(join(tmpdir(), 'looptrace-chart-'))
  try {
    const file = join(home, 'values.json')
    await writeFile(file, JSON.stringify(values))
    return await runCommand(await helmPath(), [...args, '--values', file], { home, env: {} })
  } finally {
    await rm(home, { recursive: true })
  }
}

/** Renders the chart as release `looptrace` in namespace `agents`, with its test hooks. */
export async function rendered(values: object = {}): Promise<string> {
  const { status, stdout, stderr } = await helm(
    ['template', 'looptrace', chart, '--namespace', 'agents'],
    values,
  )
  if (status !== 0) throw new Error(`helm template: ${stderr}`)
  return stdout
}

const known = new Map<string, Promise<string>>()

/** The text of a render; the same values are rendered once. */
export function renderedOnce(values: object = {}): Promise<string> {
  const key = JSON.stringify(values)
  const text = known.get(key) ?? rendered(values)
  known.set(key, text)
  return text
}

/** The objects of a render; the same values are rendered once. */
export async function renderedObjects(values: object = {}): Promise<KubeObject[]> {
  return objectsIn(await renderedOnce(values))
}

/** Parses the objects of a YAML text with several documents. */
export function objectsIn(text: string): KubeObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    const object = document.toJS()
    return object === null ? [] : [object]
  })
}

/** The pod of an object, or undefined. */
export function podIn(object: KubeObject): KubeObject | undefined {
  return object.kind === 'Pod' ? object : object.spec?.template
}

/** The Looptrace containers of a pod, init containers first; those of the values are left out. */
export function containersOf(pod: KubeObject): KubeObject[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].filter(({ image }) =>
    image.startsWith('ghcr.io/looptrace/looptrace'),
  )
}
