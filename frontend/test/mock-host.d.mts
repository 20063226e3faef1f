export function startMock(options?: Record<string, unknown>): Promise<{
  url: string;
  host: any;
  breakStreams(): void;
  close(): Promise<void>;
}>;
