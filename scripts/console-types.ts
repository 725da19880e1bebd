import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Writes the types of the API for the console, from the OpenAPI document that is checked in. The
 * file is not checked in: it is as long as the document, and follows from it.
 */
const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
execFileSync(
  process.execPath,
  [
    at('node_modules/openapi-typescript/bin/cli.js'),
    at('docs/reference/openapi.json'),
    ...[
      '--root-types',
      '--root-types-no-schema-prefix',
      '--default-non-nullable=false',
      '--output',
    ],
    at('console/src/api/schema.gen.d.ts'),
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
