import type { Kind, PrinterColumn } from '../../operator/contract.ts'
import { columnsOf } from '../../operator/crd/index.ts'
import type { KubeObject } from '../../platform/kube/index.ts'
import { tableOf } from '../output.ts'
import { ageOf } from './age.ts'
import { valueAt } from './value-at.ts'

/** The resources of one kind as a cluster has them. */
export type Listed = { kind: Kind; items: readonly KubeObject[] }

export type TableOptions = {
  all_namespaces: boolean
  wide: boolean
  now_ms: number
}

/** Each kind as a table of its columns, and what Ready says in words. */
export function tableOfResources(listed: readonly Listed[], options: TableOptions): string {
  const tables = listed
    .filter(({ items }) => items.length > 0)
    .map(({ kind, items }) => tableOfKind(kind, items, options))
  return tables.length === 0 ? 'No resources found.\n' : tables.join('\n')
}

const messageColumn: PrinterColumn = {
  name: 'Message',
  type: 'string',
  path: '.status.conditions[?(@.type=="Ready")].message',
  description: 'Why it is or is not ready.',
}

/** Longer messages are cut unless the table is wide. */
const messageMax = 80

function tableOfKind(kind: Kind, items: readonly KubeObject[], options: TableOptions): string {
  const { all_namespaces, wide, now_ms } = options
  const columns = [...columnsOf(kind), messageColumn].filter(
    ({ priority }) => wide || priority !== 1,
  )
  const rows = items.map((item) => [
    ...(all_namespaces ? [item.metadata.namespace] : []),
    `${kind.singular}/${item.metadata.name}`,
    ...columns.map((column) => cellOf(item, column, now_ms)),
  ])
  const cut = wide ? rows : rows.map((row) => [...row.slice(0, -1), shortened(row.at(-1) ?? '')])
  const headings = [
    ...(all_namespaces ? ['NAMESPACE'] : []),
    'NAME',
    ...columns.map(({ name }) => name.toUpperCase()),
  ]
  return tableOf(headings, cut)
}

function cellOf(item: KubeObject, { path, type }: PrinterColumn, now_ms: number): string {
  const value = valueAt(item, path)
  if (type === 'date') return ageOf(value, now_ms)
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function shortened(text: string): string {
  return text.length > messageMax ? `${text.slice(0, messageMax - 1)}…` : text
}
