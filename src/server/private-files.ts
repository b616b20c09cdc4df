/** The rights of all files and folders with rows or tokens: only the user who runs the program may read them. */
export const FILE_MODE = 0o600;
export const FOLDER_MODE = 0o700;
