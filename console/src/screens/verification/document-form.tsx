import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { Document, DocumentRequest } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../session/project.ts'
import { Changed } from '../../ui/changed.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { documentsPath } from './documents-path.ts'

const formats = ['text', 'markdown', 'html', 'json'] as const
const byExtension: Record<string, (typeof formats)[number]> = {
  md: 'markdown',
  markdown: 'markdown',
  html: 'html',
  htm: 'html',
  json: 'json',
}

/** Returns the format of a file by its name. */
function formatOf(name: string): (typeof formats)[number] {
  return byExtension[name.toLowerCase().split('.').at(-1) ?? ''] ?? 'text'
}

/** Adds a document, from a file or a typed text. */
export function AddDocument() {
  const [isOpen, setOpen] = useState(false)
  const isEditor = useHasRole('editor')
  const client = useQueryClient()
  const save = api.useMutation('post', documentsPath, {
    onSuccess: async ({ chunks }) => {
      notify(`The document is added, with ${chunks} passages.`)
      setOpen(false)
      await client.invalidateQueries({ queryKey: ['documents'] })
    },
  })
  return (
    <>
      <Button look="primary" disabled={!isEditor} onClick={() => setOpen(true)}>
        Add a document…
      </Button>
      {!isEditor && <span className={ui.soft}>Editors of the project add documents.</span>}
      <Dialog title="Add a document" open={isOpen} onClose={() => setOpen(false)} wide>
        {isOpen && (
          <DocumentForm
            error={save.error}
            isRunning={save.isPending}
            onSave={(body) => save.mutate({ body })}
          />
        )}
      </Dialog>
    </>
  )
}

/** Stores a new version of a document. */
export function ReplaceDocument({ document }: { document: Document }) {
  const [isOpen, setOpen] = useState(false)
  const isEditor = useHasRole('editor')
  const client = useQueryClient()
  const reload = async () => {
    await client.invalidateQueries({ queryKey: ['documents'] })
    await client.invalidateQueries({ queryKey: ['get'] })
  }
  const save = api.useMutation('put', `${documentsPath}/{document_id}`, {
    onSuccess: async ({ version }) => {
      notify(`Version ${version} is stored.`)
      setOpen(false)
      await reload()
    },
  })
  const params = {
    path: { document_id: document.document_id },
    header: { 'If-Match': `"${document.version}"` },
  }
  return (
    <>
      <Button disabled={!isEditor} onClick={() => setOpen(true)}>
        New version…
      </Button>
      <Dialog title="New version" open={isOpen} onClose={() => setOpen(false)} wide>
        {isOpen && (
          <DocumentForm
            document={document}
            error={save.error}
            isRunning={save.isPending}
            onReload={() => void reload()}
            onSave={(body) => save.mutate({ params, body })}
          />
        )}
      </Dialog>
    </>
  )
}

function DocumentForm({
  document,
  error,
  isRunning,
  onSave,
  onReload,
}: {
  document?: Document
  error: unknown
  isRunning: boolean
  onSave: (body: DocumentRequest) => void
  onReload?: () => void
}) {
  const [format, setFormat] = useState(document?.format ?? 'text')
  const [name, setName] = useState(document?.name ?? '')
  const [content, setContent] = useState('')
  const faults = faultsOf(error)
  const read = async (file: File | undefined) => {
    if (file === undefined) return
    setContent(await file.text())
    setFormat(formatOf(file.name))
    if (name === '') setName(file.name)
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (field: string) => String(form.get(field) ?? '').trim()
    const title = text('title')
    onSave({ name, ...(title !== '' && { title }), format, url: text('url') || null, content })
  }
  return (
    <form className={ui.stack} onSubmit={submit}>
      <TextField
        label="File"
        type="file"
        accept=".txt,.md,.markdown,.html,.htm,.json"
        hint="Text, Markdown, HTML or JSON, at most 8 MiB. Or type the content below."
        onChange={(event) => void read(event.target.files?.[0])}
      />
      <TextField
        label="Name"
        value={name}
        required
        fault={faultAt(faults, '/name')}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Title"
        name="title"
        defaultValue={document?.title}
        hint="It is indexed with each passage: name the subject. Empty: the name."
        fault={faultAt(faults, '/title')}
      />
      <SelectField
        label="Format"
        value={format}
        options={formats.map((each) => [each, each] as const)}
        onChange={(event) => setFormat(formats.find((f) => f === event.target.value) ?? 'text')}
      />
      <TextField
        label="Address"
        name="url"
        type="url"
        defaultValue={document?.url ?? ''}
        hint="Optional. It is shown with evidence, and is not fetched."
        fault={faultAt(faults, '/url')}
      />
      <AreaField
        label="Content"
        required
        value={content}
        fault={faultAt(faults, '/content')}
        onChange={(event) => setContent(event.target.value)}
      />
      {error !== null && <Changed error={error} onReload={() => onReload?.()} />}
      <div>
        <Button type="submit" look="primary" disabled={isRunning}>
          {isRunning ? 'Indexing…' : 'Store the document'}
        </Button>
      </div>
    </form>
  )
}
