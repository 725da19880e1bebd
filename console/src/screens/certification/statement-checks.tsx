import { Badge, Facts } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import type { Check, Verification } from './statement.ts'

/** The results of the checks of a statement. */
export function Checks({ of: { checks, statement } }: { of: Verification }) {
  return (
    <div className={ui.stack} role="status">
      <Table label="Checks" columns={columns} rows={checks} keyOf={({ name }) => name} />
      {statement !== undefined && (
        <Facts
          of={[
            ['Subject', <code key="s">{statement.subject}</code>],
            ['Policy', <Plain key="p">{statement.policy}</Plain>],
            ['Environment', <Plain key="e">{statement.environment ?? 'none'}</Plain>],
            ['Signed at', statement.issued_at],
          ]}
        />
      )}
      <p className={ui.soft}>
        The signature was checked by this browser. A pipeline should keep its own copy of the keys.
      </p>
    </div>
  )
}

const columns: Column<Check>[] = [
  { id: 'name', head: 'Check', cell: ({ name }) => name },
  {
    id: 'fine',
    head: 'Result',
    cell: ({ isFine }) => <Badge tone={isFine ? 'good' : 'bad'}>{isFine ? 'yes' : 'no'}</Badge>,
  },
  { id: 'detail', head: 'Detail', cell: ({ detail }) => <Plain>{detail}</Plain> },
]
