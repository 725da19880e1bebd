import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { Document } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { BackButton, HereLink } from '../../ui/here-link.tsx'
import { Actor } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Facts, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { AddDocument, ReplaceDocument } from './document-form.tsx'
import { documentsPath } from './documents-path.ts'
import css from './verification.module.css'

/** The documents of the project that verification searches. */
export function Documents() {
  const [{ document }] = useUrlState()
  return document === undefined ? <DocumentList /> : <DocumentPage document_id={document} />
}

function DocumentList() {
  const project_id = useProjectId()
  const [, change] = useUrlState()
  const documents = usePages(
    ['documents', project_id],
    (cursor, signal) =>
      call.GET(documentsPath, { params: { query: { limit: 50, cursor } }, signal }),
    (each) => each.documents,
  )
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <AddDocument />
      </div>
      <DocumentSearch />
      <List
        label="Documents"
        pages={documents}
        columns={columns}
        keyOf={({ document_id }) => document_id}
        onOpen={({ document_id }) => change({ document: document_id }, { push: true })}
        empty={
          <Empty title="No documents">
            <p>Add terms, price lists or manuals: claims of answers are compared with them.</p>
          </Empty>
        }
      />
    </div>
  )
}

const columns: Column<Document>[] = [
  {
    id: 'name',
    head: 'Name',
    cell: ({ document_id, name }) => (
      <HereLink change={{ document: document_id }}>
        <Plain>{name}</Plain>
      </HereLink>
    ),
  },
  { id: 'title', head: 'Title', cell: ({ title }) => <Plain>{title}</Plain> },
  { id: 'format', head: 'Format', wide: true, cell: ({ format }) => format },
  { id: 'version', head: 'Version', number: true, cell: ({ version }) => version },
  { id: 'chunks', head: 'Passages', number: true, cell: ({ chunks }) => formatCount(chunks) },
  { id: 'bytes', head: 'Size', number: true, wide: true, cell: ({ bytes }) => formatBytes(bytes) },
  {
    id: 'updated',
    head: 'Changed',
    number: true,
    wide: true,
    cell: ({ updated_at }) => <Time at={updated_at} ago />,
  },
]

const results_max = 10

/** Searches the documents as verification does. */
function DocumentSearch() {
  const [search, change] = useUrlState()
  const [text, setText] = useState(search['find'] ?? '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change({ find: text.trim() || undefined })
  }
  return (
    <>
      <search>
        <form className={ui.row} onSubmit={submit}>
          <input
            data-filter
            aria-label="Search in documents"
            placeholder="Can an express parcel be refunded?"
            className={ui.grow}
            style={{ maxWidth: 420 }}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit">Search</Button>
        </form>
      </search>
      {search['find'] !== undefined && <Results query={search['find']} />}
    </>
  )
}

function Results({ query }: { query: string }) {
  const project_id = useProjectId()
  const found = useQuery({
    queryKey: ['document-search', project_id, query],
    queryFn: async ({ signal }) => {
      const body = { query, limit: results_max }
      const { data } = await call.POST(`${documentsPath}/search`, { body, signal })
      return data?.results ?? []
    },
  })
  return (
    <Loaded query={found} what="Searching">
      {(results) => (
        <section className={ui.box} aria-label="Passages">
          {results.length === 0 && <p>No passage shares a telling word with this.</p>}
          {results.map(({ document_id, name, version, quote, score, at }) => (
            <div key={`${document_id} ${at.join(' ')}`}>
              <p>
                <HereLink change={{ document: document_id, find: undefined }}>
                  <Plain>{name}</Plain>
                </HereLink>{' '}
                <span className={ui.soft}>
                  version {version}, score {score.toFixed(2)}
                </span>
              </p>
              <blockquote className={css.quote}>
                <LongText text={quote} />
              </blockquote>
            </div>
          ))}
        </section>
      )}
    </Loaded>
  )
}

const one = `${documentsPath}/{document_id}` as const

/** One document: its versions, the content of one, a new version, deletion. */
function DocumentPage({ document_id }: { document_id: string }) {
  const [{ version }] = useUrlState()
  const params = { path: { document_id } }
  const document = api.useQuery('get', one, { params })
  const versions = api.useQuery('get', `${one}/versions`, { params })
  const shown = version ?? (document.data && String(document.data.version))
  return (
    <div className={ui.stack}>
      <BackButton all="documents" change={{ document: undefined, version: undefined }} />
      <Loaded query={document} what="Reading the document">
        {(of) => (
          <>
            <div className={ui.row}>
              <h2 className={ui.grow}>
                <Plain>{of.name}</Plain>
              </h2>
              <ReplaceDocument document={of} />
              <DeleteDocument document={of} />
            </div>
            <Facts
              of={[
                ['Title', <Plain key="t">{of.title}</Plain>],
                ['Format', of.format],
                ['Address', of.url && <Plain key="u">{of.url}</Plain>],
                ['Passages', formatCount(of.chunks)],
                ['Size', formatBytes(of.bytes)],
                ['Changed', <Time key="c" at={of.updated_at} />],
                ['By', <Actor key="b" of={of.updated_by} />],
              ]}
            />
          </>
        )}
      </Loaded>
      <Loaded query={versions} what="Reading the versions">
        {(list) => (
          <Table
            label="Versions"
            rows={list.versions}
            keyOf={(each) => String(each.version)}
            columns={[
              {
                id: 'version',
                head: 'Version',
                cell: (each) => (
                  <HereLink
                    change={{ version: String(each.version) }}
                    aria-current={String(each.version) === shown}
                  >
                    {each.version}
                  </HereLink>
                ),
              },
              { id: 'at', head: 'Stored', cell: ({ created_at }) => <Time at={created_at} /> },
              { id: 'by', head: 'By', wide: true, cell: (each) => <Actor of={each.created_by} /> },
              { id: 'size', head: 'Size', number: true, cell: ({ bytes }) => formatBytes(bytes) },
            ]}
          />
        )}
      </Loaded>
      {shown !== undefined && <Content document_id={document_id} version={shown} />}
    </div>
  )
}

function Content({ document_id, version }: { document_id: string; version: string }) {
  const query = api.useQuery('get', `${one}/versions/{version}`, {
    params: { path: { document_id, version } },
  })
  return (
    <>
      <h3>Content of version {version}</h3>
      <Loaded query={query} what="Reading the content">
        {({ content }) => (
          <div className={ui.box}>
            <LongText text={content} mono />
          </div>
        )}
      </Loaded>
    </>
  )
}

function DeleteDocument({ document }: { document: Document }) {
  const [isAsking, setAsking] = useState(false)
  const [, change] = useUrlState()
  const client = useQueryClient()
  const isEditor = useHasRole('editor')
  const { document_id, version } = document
  const remove = api.useMutation('delete', one, {
    onSuccess: async () => {
      notify('The document is deleted.')
      change({ document: undefined, version: undefined })
      await client.invalidateQueries({ queryKey: ['documents'] })
    },
    onError: notifyFault,
    onSettled: () => setAsking(false),
  })
  return (
    <>
      <Button look="danger" disabled={!isEditor} onClick={() => setAsking(true)}>
        Delete…
      </Button>
      <Confirm
        title="Delete the document?"
        action="Delete the document"
        open={isAsking}
        onClose={() => setAsking(false)}
        isRunning={remove.isPending}
        onConfirm={() =>
          remove.mutate({
            params: { path: { document_id }, header: { 'If-Match': `"${version}"` } },
          })
        }
      >
        <p>All its versions go. Evidence that quotes it keeps the quote.</p>
      </Confirm>
    </>
  )
}
