import { sliceDocument } from './slice-document.js'

/**
 * Resolves the references below a path of a document.
 *
 * @typedef {(
 *   document: Record<string, unknown>,
 *   path: readonly string[],
 *   options?: object,
 * ) => Promise<object>} Resolve
 */

const { SwaggerUIBundle } = /** @type {{ SwaggerUIBundle: (options: object) => void }} */ (
  /** @type {unknown} */ (window)
)

// Draws the operations of this server by tag. Calls can be sent only for reads; a key that a reader
// enters stays in the memory of the page.
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  docExpansion: 'list',
  filter: true,
  deepLinking: true,
  displayOperationId: true,
  // The schemas are shown with the operations that use them.
  defaultModelsExpandDepth: -1,
  supportedSubmitMethods: ['get'],
  persistAuthorization: false,
  validatorUrl: null,
  plugins: [resolveSlices],
})

/**
 * Resolves references in a slice of the document, because Swagger UI reads a whole document for each
 * opened operation: seconds for 1 MB.
 *
 * @param {{ fn: { resolveSubtree: Resolve } }} system
 */
function resolveSlices({ fn: { resolveSubtree } }) {
  /** @type {Resolve} */
  const resolveSlice = (document, path, options) =>
    resolveSubtree(sliceDocument(document, path), path, options)
  return { fn: { resolveSubtree: resolveSlice } }
}
