import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import { faultsOf } from '../../api/problem.ts'
import type { Fact } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import { Empty, Fault } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'

const path = '/api/v1/verification/facts'

/** Numbers, dates and yes-or-no of the project, which can contradict a claim. */
export function Facts() {
  const project_id = useProjectId()
  const [search, change] = useUrlState()
  const subject = search['subject']
  const query = { limit: 50, ...(subject && { subject }) }
  const facts = usePages(
    ['facts', project_id, query],
    (cursor, signal) => call.GET(path, { params: { query: { ...query, cursor } }, signal }),
    (each) => each.facts,
  )
  return (
    <div className={ui.stack}>
      <AddFact />
      <input
        data-filter
        aria-label="Subject"
        placeholder="Subject"
        defaultValue={subject}
        style={{ maxWidth: 240 }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') change({ subject: event.currentTarget.value || undefined })
        }}
      />
      <List
        label="Facts"
        pages={facts}
        columns={columns}
        keyOf={({ fact_id }) => fact_id}
        empty={
          <Empty title={subject ? 'No fact of this subject' : 'No facts'}>
            <p>
              A fact says which subject and unit a number belongs to: a claim can contradict it.
            </p>
          </Empty>
        }
      />
    </div>
  )
}

const fields = [
  ['subject', 'Subject', 'Express parcel', true],
  ['attribute', 'Attribute', 'price', true],
  ['value', 'Value', '12.5', true],
  ['unit', 'Unit', 'EUR', false],
  ['source', 'Source', 'price list 2026', false],
] as const

function AddFact() {
  const client = useQueryClient()
  const isEditor = useHasRole('editor')
  const save = api.useMutation('post', path, {
    onSuccess: async ({ replaced }) => {
      notify(replaced > 0 ? 'The fact is replaced.' : 'The fact is added.')
      await client.invalidateQueries({ queryKey: ['facts'] })
    },
  })
  const faults = faultsOf(save.error)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const value = text('value')
    save.mutate({
      body: {
        subject: text('subject'),
        attribute: text('attribute'),
        value: /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value,
        unit: text('unit'),
        source: text('source'),
      },
    })
  }
  return (
    <form onSubmit={submit} className={ui.stack}>
      <div className={ui.row} style={{ alignItems: 'end' }}>
        {fields.map(([name, label, placeholder, required]) => (
          <TextField
            key={name}
            label={label}
            name={name}
            placeholder={placeholder}
            required={required}
            disabled={!isEditor}
            size={14}
            fault={faultAt(faults, `/${name}`)}
          />
        ))}
        <Button type="submit" disabled={!isEditor || save.isPending}>
          Add the fact
        </Button>
      </div>
      {!isEditor && <p className={ui.soft}>Editors of the project add facts.</p>}
      {save.error !== null && <Fault error={save.error} />}
    </form>
  )
}

const columns: Column<Fact>[] = [
  { id: 'subject', head: 'Subject', cell: ({ subject }) => <Plain>{subject}</Plain> },
  { id: 'attribute', head: 'Attribute', cell: ({ attribute }) => <Plain>{attribute}</Plain> },
  {
    id: 'value',
    head: 'Value',
    number: true,
    cell: ({ value, unit }) => <Plain>{`${value} ${unit}`.trim()}</Plain>,
  },
  { id: 'source', head: 'Source', wide: true, cell: ({ source }) => <Plain>{source}</Plain> },
  {
    id: 'updated',
    head: 'Changed',
    number: true,
    wide: true,
    cell: ({ updated_at }) => <Time at={updated_at} ago />,
  },
  { id: 'delete', head: 'Actions', cell: (fact) => <DeleteFact fact={fact} /> },
]

function DeleteFact({ fact }: { fact: Fact }) {
  const [isAsking, setAsking] = useState(false)
  const client = useQueryClient()
  const isEditor = useHasRole('editor')
  const remove = api.useMutation('delete', `${path}/{fact_id}`, {
    onSuccess: () => client.invalidateQueries({ queryKey: ['facts'] }),
    onError: notifyFault,
    onSettled: () => setAsking(false),
  })
  return (
    <>
      <Button small look="plain" disabled={!isEditor} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <Confirm
        title="Delete the fact?"
        action="Delete the fact"
        open={isAsking}
        onClose={() => setAsking(false)}
        isRunning={remove.isPending}
        onConfirm={() => remove.mutate({ params: { path: { fact_id: fact.fact_id } } })}
      >
        <p>
          <Plain>{`${fact.subject}: ${fact.attribute}`}</Plain> no longer decides claims.
        </p>
      </Confirm>
    </>
  )
}
