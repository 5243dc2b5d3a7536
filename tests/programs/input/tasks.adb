--  tasks.adb - Ada tasks (threads) that meet at a protected object, and an exception.
with Ada.Text_IO; use Ada.Text_IO;
procedure Tasks is
   protected Sum is
      procedure Add (N : Integer);
      function Value return Integer;
   private
      Total : Integer := 0;
   end Sum;
   protected body Sum is
      procedure Add (N : Integer) is
      begin
         Total := Total + N;
      end Add;
      function Value return Integer is (Total);
   end Sum;
   task type Worker;
   task body Worker is
   begin
      for I in 1 .. 2_000 loop
         Sum.Add (I mod 7);
      end loop;
   end Worker;
   Small : Integer range 0 .. 10 := 0;
begin
   declare
      Workers : array (1 .. 4) of Worker;
      pragma Unreferenced (Workers);
   begin
      null;
   end;
   Put_Line (Sum.Value'Image);
   for I in 1 .. 20 loop
      Small := Small + 1;
   end loop;
exception
   when Constraint_Error => Put_Line ("out of range at" & Small'Image);
end Tasks;
