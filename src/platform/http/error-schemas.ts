import { z } from 'zod'
import { type ProblemCode, problemCatalogue } from '../../kernel/problem.ts'
import { faultSchema, record } from '../../model/named-schemas.ts'

const codes = Object.keys(problemCatalogue) as [ProblemCode, ...ProblemCode[]]

const codesDescription = Object.entries(problemCatalogue)
  .map(([code, { status, title }]) => `- \`${code}\` (${status}): ${title}`)
  .join('\n')

/** An error of the product APIs: RFC 9457. Some codes add members of their own. */
export const problemSchema = z
  .looseObject({
    type: z.string().describe('`urn:looptrace:problem:` and the code.'),
    title: z.string().describe('The same for every error of this code.'),
    status: z.int().min(400).max(599).describe('The HTTP status.'),
    detail: z.string().describe('What happened, and what to do.'),
    instance: z.string().describe('The path of the request.'),
    code: z.enum(codes).meta({ id: 'ProblemCode', description: codesDescription }),
    errors: z.array(faultSchema).optional().describe('Every fault of an invalid request.'),
  })
  .meta({
    id: 'Problem',
    example: {
      type: 'urn:looptrace:problem:task_not_found',
      title: problemCatalogue.task_not_found.title,
      status: 404,
      detail: 'task_id: got "checkout-17", which is no task of this project',
      instance: '/api/v1/tasks/checkout-17',
      code: 'task_not_found',
    },
  })

/** An error of the proxy, in the format of OpenAI. */
export const providerErrorSchema = record('ProviderError', {
  error: z
    .looseObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
    })
    .meta({ id: 'ProviderErrorBody' }),
})

/** google.rpc.Status as JSON, with which OTLP answers; a request in protobuf gets it in protobuf. */
export const rpcStatusSchema = record('RpcStatus', {
  code: z.int().describe('A code of google.rpc.Code.'),
  message: z.string(),
  details: z
    .array(
      record('RetryInfo', {
        '@type': z.string(),
        retryDelay: z.string().describe('Seconds with an `s`, such as `1s`.'),
      }),
    )
    .optional()
    .describe('When the request may be sent again, if it may.'),
})
