/** What the handler of a downloading route answers with: a file that is read while it is sent. */
export interface FileDownload {
  readonly sizeBytes: number;
  /** Fills the buffer from this position of the file on; says how many bytes it read. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  /** Called once, however the answer ends. */
  close(): Promise<void>;
}
