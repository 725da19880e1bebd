import { type ReactNode, useState } from 'react'
import type { QueryColumn } from '../../api/schema.gen.d.ts'
import { Content } from '../../ui/content.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { Cell, isNumeric } from './cells.tsx'
import type { Row } from './chart-rows.ts'

const keys = new WeakMap<Row, string>()
let next = 1

/** Returns a key of a row, which has no id. */
function keyOf(row: Row): string {
  const key = keys.get(row) ?? `row-${next++}`
  keys.set(row, key)
  return key
}

const longText = 60

/** The rows of an answer. A row opens with all its values, whole and exact. */
export function ResultTable({
  columns,
  rows,
  action,
}: {
  columns: readonly QueryColumn[]
  rows: readonly Row[]
  /** A control at the end of each row. */
  action?: (row: Row) => ReactNode
}) {
  const [opened, setOpened] = useState<Row>()
  const shown: Column<Row>[] = columns.map(({ name, type }) => ({
    id: name,
    head: <Plain>{name}</Plain>,
    number: isNumeric(type),
    cell: (row) => <Cell name={name} type={type} value={row[name]} />,
  }))
  const last: Column<Row> = {
    id: 'action of the row',
    head: <span className={ui.visuallyHidden}>Action</span>,
    cell: (row) => action?.(row),
  }
  return (
    <>
      <Table
        label="Rows"
        columns={action === undefined ? shown : [...shown, last]}
        rows={rows}
        keyOf={keyOf}
        onOpen={setOpened}
        empty={
          <Empty title="No record matches">
            <p>Use a longer range of time, or fewer conditions.</p>
          </Empty>
        }
      />
      {opened !== undefined && (
        <Dialog title="Row" open wide onClose={() => setOpened(undefined)}>
          <WholeRow columns={columns} row={opened} />
        </Dialog>
      )}
    </>
  )
}

function WholeRow({ columns, row }: { columns: readonly QueryColumn[]; row: Row }) {
  const isLong = (value: unknown) =>
    typeof value === 'object' ? value !== null : String(value).length > longText
  const short = columns.filter(({ name }) => !isLong(row[name]))
  const long = columns.filter(({ name }) => isLong(row[name]))
  return (
    <div className={ui.stack}>
      <Facts
        of={short.map(({ name }) => {
          const value = row[name]
          return [
            name,
            value === null || value === '' ? '–' : <Plain key={name}>{String(value)}</Plain>,
          ]
        })}
      />
      {long.map(({ name }) => (
        <Content key={name} title={name} value={row[name]} />
      ))}
    </div>
  )
}
