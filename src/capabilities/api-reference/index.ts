import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { definePage, type Route } from '../../platform/http/index.ts'

/**
 * The API reference for people: Swagger UI on the OpenAPI document of the same server. Nothing is
 * loaded from another origin.
 */
export function apiReferencePages(): Route[] {
  return [
    definePage({
      url: '/docs',
      id: 'apiReferencePage',
      summary: 'Page with the API reference',
      file: new URL('./browser/docs.html', import.meta.url),
      drawn_by_package: true,
    }),
    definePage({
      url: '/docs/docs.js',
      id: 'apiReferenceScript',
      summary: 'Settings of the API reference',
      file: new URL('./browser/docs.js', import.meta.url),
    }),
    definePage({
      url: '/docs/slice-document.js',
      id: 'apiReferenceSlices',
      summary: 'Part of the OpenAPI document that an operation needs',
      file: new URL('./browser/slice-document.js', import.meta.url),
    }),
    definePage({
      url: '/docs/docs.css',
      id: 'apiReferenceStyle',
      summary: 'Style of the API reference',
      file: new URL('./browser/docs.css', import.meta.url),
    }),
    definePage({
      url: '/docs/swagger-ui-bundle.js',
      id: 'swaggerUiScript',
      summary: 'Script of Swagger UI',
      file: pathToFileURL(
        createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui-bundle.js'),
      ),
    }),
    definePage({
      url: '/docs/swagger-ui.css',
      id: 'swaggerUiStyle',
      summary: 'Style of Swagger UI',
      file: pathToFileURL(createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui.css')),
    }),
  ]
}
