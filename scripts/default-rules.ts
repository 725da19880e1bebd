import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'

const rule = z.object({
  kind: z.literal('IncidentRule'),
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({ projectRef: z.unknown() }),
})

/**
 * Returns the default rules of the chart: the rules of `examples/incident-rules/`, without their
 * project and their channels, which the values of the chart name.
 */
export async function defaultRules(root: string): Promise<{ path: string; content: string }> {
  const folder = 'examples/incident-rules'
  const files = await Array.fromAsync(glob('*.yaml', { cwd: join(root, folder) }))
  const names = files.filter((name) => !name.endsWith('_test.yaml')).toSorted()
  const texts = await Promise.all(names.map((name) => readFile(join(root, folder, name), 'utf8')))
  const rules = texts
    .flatMap((text) => parseAllDocuments(text).map((document) => rule.parse(document.toJS())))
    .map(({ metadata: { name }, spec }) => ({ name, spec: withoutPlaces(spec) }))
  const content = `${JSON.stringify(rules, null, 2)}\n`
  return { path: 'charts/looptrace/files/default-rules.json', content }
}

function withoutPlaces(spec: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const places = new Set(['projectRef', 'notify', 'escalation'])
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !places.has(field)))
}
