import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { Document } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Actor } from '../../ui/job.tsx'
import { Button, Facts, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { ReplaceDocument } from './document-form.tsx'
import { documentsPath } from './documents-path.ts'

const one = `${documentsPath}/{document_id}` as const

/** One document: its versions, the content of one, a new version, deletion. */
export function DocumentPage({ document_id }: { document_id: string }) {
  const [{ version }, change] = useUrlState()
  const params = { path: { document_id } }
  const document = api.useQuery('get', one, { params })
  const versions = api.useQuery('get', `${one}/versions`, { params })
  const shown = version ?? (document.data && String(document.data.version))
  return (
    <div className={ui.stack}>
      <div>
        <Button
          small
          onClick={() => change({ document: undefined, version: undefined }, { push: true })}
        >
          ← All documents
        </Button>
      </div>
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
