import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { sliceDocument } from './slice-document.js'

type Document = {
  openapi: string
  paths: Record<string, Record<string, object>>
  components: Record<string, Record<string, object>>
}

const text = readFileSync('docs/reference/openapi.json', 'utf8')
const document: Document = JSON.parse(text)
const operations = Object.entries(document.paths).flatMap(([url, methods]) =>
  Object.keys(methods).map((method) => ['paths', url, method] as const),
)
const slice = (path: readonly string[], from = document) => sliceDocument(from, path) as Document

/** Finds the components that a part needs: repeats until a pass over the texts adds none. */
function neededBy(part: object): Set<string> {
  const needed = new Set<string>()
  let seen = JSON.stringify(part)
  for (let before = -1; before < needed.size; ) {
    before = needed.size
    for (const [, group = '', name = ''] of seen.matchAll(
      /"\$ref":"#\/components\/(\w+)\/([\w.-]+)"/g,
    )) {
      if (needed.has(`${group}/${name}`)) continue
      needed.add(`${group}/${name}`)
      seen += JSON.stringify(document.components[group]?.[name])
    }
  }
  return needed
}

describe('the slice of a document', () => {
  test('at each operation has the operation and exactly the components that it needs', () => {
    expect(operations.length).toBeGreaterThan(280)
    for (const [, url, method] of operations) {
      const { openapi, paths, components } = slice(['paths', url, method])
      const operation = document.paths[url]?.[method] ?? {}
      expect([openapi, paths]).toEqual([document.openapi, { [url]: { [method]: operation } }])
      const kept = Object.entries(components).flatMap(([group, named]) =>
        Object.keys(named).map((name) => `${group}/${name}`),
      )
      expect(new Set(kept), `${method} ${url}`).toEqual(neededBy(operation))
    }
  })

  test('is small beside the document', () => {
    const sizes = operations.map((path) => JSON.stringify(slice(path)).length)
    expect(Math.max(...sizes)).toBeLessThan(text.length / 5)
  })

  test('at a group of components has that group', () => {
    const { securitySchemes } = document.components
    expect(slice(['components', 'securitySchemes'])).toMatchObject({
      components: { securitySchemes },
    })
    expect(slice(['components', 'securitySchemes'])).not.toHaveProperty('paths')
  })

  test('ends for components that refer to each other', () => {
    const one = { $ref: '#/components/schemas/Two' }
    const two = {
      anyOf: [{ $ref: '#/components/schemas/One' }, { $ref: '#/components/schemas/No' }],
    }
    const circle: Document = {
      openapi: '3.1.0',
      paths: { '/a': { get: { schema: { $ref: '#/components/schemas/One' } } } },
      components: { schemas: { One: one, Two: two, Three: {} } },
    }
    expect(slice(['paths', '/a', 'get'], circle).components).toEqual({
      schemas: { One: one, Two: two },
    })
  })

  test.each([[[]], [['paths']], [['paths', '/none', 'get']], [['components', 'none']], [['tags']]])(
    'at %j is the document',
    (path) => {
      expect(slice(path)).toBe(document)
    },
  )
})
