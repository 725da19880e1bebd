import { useUrlState } from '../../app/use-search.ts'
import { formatCompact, formatCount, formatUsd } from '../../ui/format.ts'
import { Button } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import type { FindingsFilter } from './findings-query.ts'
import { useFindingsByType } from './use-findings.ts'

type Row = Readonly<Record<string, unknown>>

/** Findings by type: how many, in how many tasks, and what they wasted. */
export function ByType({ filter }: { filter: FindingsFilter }) {
  const types = useFindingsByType(filter)
  const [, change] = useUrlState()
  return (
    <Loaded query={types} what="Reading the types">
      {({ rows }) => (
        <Table
          label="Types of findings"
          rows={rows}
          columns={columns((type) => change({ type, tab: undefined }, { push: true }))}
          keyOf={(row) => `${row['kind']} ${row['type']}`}
          empty={<Empty title="No findings in this range" />}
        />
      )}
    </Loaded>
  )
}

const columns = (choose: (type: string) => void): Column<Row>[] => [
  { id: 'kind', head: 'Kind', cell: (row) => <Plain>{String(row['kind'])}</Plain> },
  {
    id: 'type',
    head: 'Type',
    cell: (row) => (
      <Button small look="plain" onClick={() => choose(String(row['type']))}>
        <Plain>{String(row['type'])}</Plain>
      </Button>
    ),
  },
  { id: 'n', head: 'Findings', number: true, cell: (row) => formatCount(Number(row['n'])) },
  { id: 'tasks', head: 'Tasks', number: true, cell: (row) => formatCount(Number(row['tasks'])) },
  {
    id: 'cost',
    head: 'Wasted',
    number: true,
    cell: (row) => formatUsd(String(row['cost'] ?? '0')),
  },
  {
    id: 'tokens',
    head: 'Tokens',
    number: true,
    wide: true,
    cell: (row) => formatCompact(Number(row['tokens'])),
  },
]
