import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { currentProject } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Copy } from '../../ui/copy.tsx'
import { Button, Heading } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { type Body, compactBody, formatBody, readBody, type Window } from './body.ts'
import { Builder } from './builder.tsx'
import { Explanation } from './explanation.tsx'
import { useQueryFields } from './fields.tsx'
import { examples } from './presets.ts'
import css from './query.module.css'
import { Results } from './results.tsx'
import { pathOf, withWindow } from './run.ts'
import { SaveDialog } from './save-dialog.tsx'
import { isSameQuery } from './saved-body.ts'
import { readSaved, replaceSaved, requestOf } from './saved-calls.ts'
import { SavedList } from './saved-list.tsx'
import { type Draft, useDraft } from './use-draft.ts'

/** A server that gets a longer address answers 431 when the page is read again. */
const address_max = 12_000

/** Queries over everything that was recorded: written by choices or as JSON, explained, saved. */
export function Query() {
  const draft = useDraft()
  const fields = useQueryFields()
  const [search] = useUrlState()
  const [typed, setTyped] = useState<Typed>()
  const { body, edit } = draft
  const tabs = [
    {
      id: 'builder',
      title: 'Builder',
      render: () => (
        <Loaded query={fields} what="Reading the fields">
          {(all) => <Builder all={all} body={body} onChange={(changed) => edit(changed)} />}
        </Loaded>
      ),
    },
    {
      id: 'json',
      title: 'JSON',
      render: () => (
        <JsonEditor
          body={body}
          written={draft.written}
          address={() => curlOf(pathOf(body), withWindow(draft))}
          typed={typed}
          onType={setTyped}
          onChange={edit}
        />
      ),
    },
    { id: 'saved', title: 'Saved', render: () => <SavedList open={draft.open} /> },
  ]
  return (
    <>
      <Heading title="Query" />
      <SavedBar draft={draft} />
      {draft.fault !== undefined && (
        <p className={ui.notice} role="alert">
          The query of the address cannot be read: {draft.fault}
        </p>
      )}
      <Tabs label="Ways to write the query" tabs={tabs} />
      {search['tab'] !== 'saved' && (
        <>
          <Actions draft={draft} />
          <Outcome draft={draft} />
        </>
      )}
    </>
  )
}

/** The typed text, and the query from which it was made. */
type Typed = { text: string; of: string }

const minLinesShown = 8

/**
 * The query as JSON. What can be read becomes the query of the builder at once; what cannot stays
 * here, also while another tab is open.
 */
function JsonEditor({
  body,
  written,
  address,
  typed,
  onType,
  onChange,
}: {
  body: Body
  written: Window
  /** The body that the API gets, for a copy as a command. */
  address: () => string
  typed: Typed | undefined
  onType: (typed: Typed) => void
  onChange: (body: Body, window: Window | undefined) => void
}) {
  const current = formatBody(body, written)
  const text = typed?.of === current ? typed.text : current
  const read = readBody(text)
  const lines = text.split('\n').length
  return (
    <div className={ui.stack}>
      <div className={css.editor}>
        <pre className={css.numbers} aria-hidden="true">
          {Array.from({ length: Math.max(lines, minLinesShown) }, (_, at) => at + 1).join('\n')}
        </pre>
        <textarea
          aria-label="Query as JSON"
          spellCheck={false}
          autoComplete="off"
          rows={Math.max(lines, minLinesShown)}
          aria-invalid={read.body === undefined}
          value={text}
          onChange={(event) => {
            const changed = event.target.value
            const next = readBody(changed)
            const of =
              next.body === undefined ? current : formatBody(next.body, next.window ?? written)
            onType({ text: changed, of })
            if (next.body !== undefined) onChange(next.body, next.window)
          }}
        />
      </div>
      {read.body === undefined && (
        <p className={ui.fault} role="alert">
          {read.fault}. The builder keeps the last query that could be read.
        </p>
      )}
      <div className={ui.row}>
        <Copy small text={() => text}>
          Copy the JSON
        </Copy>
        <Copy small text={address}>
          Copy as curl
        </Copy>
      </div>
    </div>
  )
}

/** Returns the command that sends a query to the API. */
function curlOf(path: string, body: object): string {
  const quoted = JSON.stringify(body).replaceAll("'", `'\\''`)
  return [
    `curl -s '${window.location.origin}${path}'`,
    `-H "X-API-Key: $LOOPTRACE_API_KEY" -H 'X-Project-ID: ${currentProject() ?? ''}'`,
    `-H 'Content-Type: application/json' -d '${quoted}'`,
  ].join(' \\\n  ')
}

function Actions({ draft }: { draft: Draft }) {
  const project_id = useProjectId()
  const canSave = useHasRole('editor')
  const [isSaving, setSaving] = useState(false)
  const { body, window, run, isRan, ran } = draft
  const isLong = encodeURIComponent(compactBody(body)).length > address_max
  return (
    <>
      <Explanation asked={{ body, window }} project_id={project_id} />
      {isLong && (
        <p className={ui.notice}>
          The query is too long for an address: a link to it will not open. Save it instead.
        </p>
      )}
      <div className={ui.row}>
        <Button look="primary" onClick={run}>
          {isRan ? 'Run again' : 'Run'}
        </Button>
        <Button
          disabled={!canSave}
          title={canSave ? undefined : 'Saving needs the role editor'}
          onClick={() => setSaving(true)}
        >
          Save…
        </Button>
        {ran !== undefined && !isRan && (
          <span role="status">The rows below are of the query before your changes.</span>
        )}
      </div>
      {isSaving && (
        <SaveDialog
          body={body}
          window={draft.written}
          onClose={() => setSaving(false)}
          onSaved={({ saved_query_id }) => draft.open(body, { saved: saved_query_id })}
        />
      )}
    </>
  )
}

function Outcome({ draft: { ran, open } }: { draft: Draft }) {
  if (ran !== undefined) return <Results asked={ran} open={open} />
  return (
    <Empty title="Nothing is read yet">
      <p>Choose what to read and run it, or begin with one of these.</p>
      <div className={css.examples}>
        {examples.map(({ title, body }) => (
          <Button key={title} onClick={() => open(body)}>
            {title}
          </Button>
        ))}
      </div>
    </Empty>
  )
}

/** Says which saved query this one comes from, and stores its changes. */
function SavedBar({ draft }: { draft: Draft }) {
  const project_id = useProjectId()
  const client = useQueryClient()
  const canEdit = useHasRole('editor')
  const [isRunning, setRunning] = useState(false)
  const { saved: id, body, written } = draft
  const query = useQuery({
    queryKey: ['saved query', project_id, id],
    queryFn: ({ signal }) => readSaved(id ?? '', signal),
    enabled: id !== undefined,
  })
  if (id === undefined || query.data === undefined) return null
  const { saved, etag } = query.data
  const { entity, ...rest } = body
  const changed = { entity, window: written, ...rest }
  const hasParameters = saved.parameters.length > 0
  const isSame = isSameQuery(changed, saved.body)
  const update = async () => {
    setRunning(true)
    try {
      const kind = rest.measures === undefined ? ('query' as const) : ('aggregate' as const)
      await replaceSaved(id, { ...requestOf(saved), kind, body: changed }, etag)
      notify(`Saved ${saved.name}`)
    } catch (error) {
      const isStale = error instanceof Problem && error.status === 412
      notifyFault(
        isStale
          ? new Error('The query was changed by another person. Save yours under another name.')
          : error,
      )
    } finally {
      setRunning(false)
      await client.invalidateQueries({ queryKey: ['saved query'] })
      await client.invalidateQueries({ queryKey: ['saved queries'] })
    }
  }
  return (
    <div className={ui.row}>
      <span>
        From{' '}
        <strong>
          <Plain>{saved.name}</Plain>
        </strong>
        {!isSame && !hasParameters && ', changed'}
      </span>
      {!hasParameters && !isSame && (
        <Button
          small
          disabled={!canEdit || isRunning}
          title={canEdit ? undefined : 'Saving needs the role editor'}
          onClick={() => void update()}
        >
          {isRunning ? 'Saving…' : 'Save the changes'}
        </Button>
      )}
    </div>
  )
}
