/** The route of documents. */
export const documentsPath = '/api/v1/verification/documents'
